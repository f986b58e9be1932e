# Suites as large as the release: 375 FullObs, 200 CI and 200 EC instances with its mix of bands, and hold-out worlds.
# sh data/recipes.sh makes all of them in the current folder, in about a quarter of an hour on two cores.
set -e
induction generate --regime fullobs -n 375 --seed 1 --certify --jobs 2 -o fullobs.yaml.gz
induction generate --regime ci -n 200 --seed 1 --certify --ci-style identified --jobs 2 -o ci.yaml.gz
induction generate --regime ec -n 200 --seed 1 --jobs 2 -o ec.yaml.gz
induction generate --regime fullobs --band challenge -n 100 --seed 1 --certify --jobs 2 -o challenge.yaml.gz
for suite in fullobs ci ec challenge; do
    induction holdout "$suite.yaml.gz" -n 5 --seed 1 -o "${suite}_holdout.jsonl"
done
