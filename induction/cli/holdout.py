"""`induction holdout`: fresh worlds for the instances of a file."""

from typing import Annotated, Any

import typer

from induction.errors import InductionError, InstanceFormatError, UsageError, printable


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    out: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write a row for each instance here.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=10_000, help="Fresh worlds of each instance.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the worlds.")] = 0,
    instance_id: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="For this instance alone; may be repeated.")
    ] = None,
) -> int:
    """Make fresh worlds of each instance's own recipe, labelled by its gold, fully observed also for EC.

    The recipe is the recorded one, or for files without any it is inferred from the worlds to match. No fresh world
    is isomorphic to one of the instance's. Instances without a gold, and those for which no worlds could be made, are
    left out and told; the exit code is then 1.

    \b
    Examples:
      induction holdout suite.yaml.gz -n 5 --seed 7 -o holdout.jsonl
      induction holdout suite.yaml.gz --id hard_003 -n 200 -o fresh.jsonl
    """
    from induction.cli import inputs, output
    from induction.generation.holdout import make_holdout
    from induction.generation.refusals import NoWorldsError
    from induction.running.rows import RowJournal, as_lines
    from induction.worlds.formats import file_suffix

    if file_suffix(out) != ".jsonl":
        raise UsageError(f"{printable(out, 200)}: hold-out rows go to a file whose name ends in .jsonl (and .gz)")
    instances = inputs.InstanceStream(file, instance_id)
    digest, names = inputs.Digest(), []
    for instance in instances:
        digest.add_instance(instance)
        names.append(instance.instance_id)
    faults = [*instances.faults]
    left_out: list[str] = []
    inferred = 0
    key = inputs.journal_key_of("holdout", digest, count=count, seed=seed)
    with output.journalled(RowJournal(out, key, held=False), len(names)) as journal:
        with output.progress_bar("making worlds", len(names)) as advance:
            for instance in instances:
                advance(1)
                name = instance.instance_id
                if name in journal.rows:
                    continue
                try:
                    row: dict[str, Any] = make_holdout(instance, count, seed).to_record()
                except NoWorldsError as error:
                    left_out.append(f"{printable(name)}: left out: {error}")
                    continue
                except InductionError as error:
                    faults.append(InstanceFormatError(str(error), file=file, place=printable(name)))
                    continue
                journal.add(name, row)

        def counted(row: dict[str, Any]) -> dict[str, Any]:
            nonlocal inferred
            inferred += row["recipe"] == "inferred"
            return row

        made = [name for name in names if name in journal.rows]
        if made:
            journal.finish(made, lambda rows: as_lines(map(counted, rows)))
    for line in left_out:
        output.note(line)
    inputs.report_faults(faults)
    worlds = output.plural(count, "world")
    if made:
        print(f"wrote {printable(out, 200)}: {worlds} for {len(made)} of {output.plural(len(names), 'instance')}")
    if inferred:
        print(f"the recipe of {inferred} was inferred from their worlds")
    if faults:
        return 2
    return 1 if left_out else 0
