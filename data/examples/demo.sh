# A short tour: right and wrong formulas on the example instances. Run by `make demo`.
cd "$(dirname "$0")" || exit 1

show() {
    printf '\n$ induction'
    for word in "$@"; do
        case $word in *[\(\ ]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    induction "$@"
    code=$?
    printf '(exit code %s)\n' "$code"
}

echo "Three small instances: worlds with objects, P Q (unary), R S (binary) and labels T."
show info examples.yaml
echo
echo "A formula that explains the labels of the first, and one that does not:"
show check '(exists y (and (R x y) (P y)))' examples.yaml --id example_fullobs
show check '(exists y (R x y))' examples.yaml --id example_fullobs
echo
echo "CI: it must match in every YES world and fail in every NO world."
show check '(forall y (or (not (R x y)) (exists z (and (S y z) (P z)))))' examples.yaml --id example_ci
show check '(exists y (and (R x y) (exists z (and (S y z) (P z)))))' examples.yaml --id example_ci
echo
echo "EC: some atoms are unknown; for each world some completion must match. It is shown."
show check '(and (P x) (exists y (and (R x y) (Q y))))' examples.yaml --id example_ec
show check '(exists y (and (R x y) (Q y)))' examples.yaml --id example_ec
echo
echo "Why is it wrong there? The trace names the witness or the failing part at each quantifier:"
show check '(forall y (or (not (R x y)) (P y)))' examples.yaml --id example_fullobs --why
echo
echo "The worlds as text, and as a picture with what the formula hits and misses:"
show show examples.yaml --id example_fullobs --world train_0 --formula '(exists y (R x y))'
show show examples.yaml --id example_fullobs --formula '(exists y (R x y))' -o "${TMPDIR:-/tmp}/induction_worlds.svg"
echo
echo "Many at once; the last one is no formula:"
show check --formulas formulas.txt examples.yaml
echo
echo "Nobody has a formula? The smallest ones are found, with proof that none is smaller:"
show solve examples.yaml
echo
echo "What a formula is:"
show formula '(forall y (implies (R x y) (exists z (and (S y z) (P z)))))'
echo
echo "A near miss is told where and how:"
show formula '(Exists y (And (R x y) (P y)))'
exit 0
