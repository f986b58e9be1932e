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
    from induction.running.rows import RowJournal
    from induction.worlds.formats import file_suffix

    if file_suffix(out) != ".jsonl":
        raise UsageError(f"{printable(out, 200)}: hold-out rows go to a file whose name ends in .jsonl (and .gz)")
    inputs.require_another_file(out, [file])
    instances, faults, _ = inputs.load_instances(file, instance_id)
    left_out: list[str] = []
    with RowJournal(out, inputs.journal_key("holdout", instances, count=count, seed=seed)) as journal:
        output.note_rows_kept(journal, len(instances))
        with output.progress_bar("making worlds", len(instances)) as advance:
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
        made = [instance.instance_id for instance in instances if instance.instance_id in journal.rows]
        inferred = sum(row["recipe"] == "inferred" for row in journal.rows.values())
        if made:
            journal.finish(made)
    for line in left_out:
        output.note(line)
    inputs.report_faults(faults)
    worlds = output.plural(count, "world")
    if made:
        print(f"wrote {printable(out, 200)}: {worlds} for {len(made)} of {output.plural(len(instances), 'instance')}")
    if inferred:
        print(f"the recipe of {inferred} was inferred from their worlds")
    if faults:
        return 2
    return 1 if left_out else 0
