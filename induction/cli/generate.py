"""`induction generate`: instances with planted golds, whose worlds refute shortcuts."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import InductionError, UsageError, printable

if TYPE_CHECKING:
    from induction.generation.bands import Band, Overrides
    from induction.generation.pipeline import Options
    from induction.worlds.instance import Instance

_MOST_OBJECTS = 30  # with more, telling rivals apart takes more memory than a laptop has
_TRIAL = 2  # where that many instances of a band, its first, all fail, the rest of it is left out
_TOGETHER = 25  # instances a process makes at a time, where each takes a twentieth of a second


def command(
    out: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="The instance file to write (.yaml, .jsonl, .gz)."),
    ],
    regime: Annotated[str, typer.Option("--regime", help="fullobs, ci, ec or all.")] = "all",
    band: Annotated[
        str | None,
        typer.Option(
            "--band",
            help="simple, easy, medium, hard, extreme, challenge (fullobs), core, lift_mix (ci), core, hard (ec). "
            "Without it all but challenge, in the proportions of the release.",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, max=100_000, help="How many instances (10).")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the suite.")] = 0,
    certify: Annotated[
        bool, typer.Option("--certify", help="Add worlds until one answer is left, and record what is proven.")
    ] = False,
    margin: Annotated[
        int,
        typer.Option("--margin", min=0, max=10, help="With --certify: how much larger than the gold to look."),
    ] = 0,
    ci_style: Annotated[
        str,
        typer.Option("--ci-style", help="paper, or identified: YES worlds that leave no other answer."),
    ] = "paper",
    worlds: Annotated[
        str | None, typer.Option("--worlds", metavar="A-B", help="Worlds to match, other than the band's.")
    ] = None,
    objects: Annotated[
        str | None, typer.Option("--objects", metavar="A-B", help="Objects of a world, other than the band's.")
    ] = None,
    density: Annotated[
        str | None, typer.Option("--density", metavar="A-B", help="Density of the binary predicates, such as 0.2-0.35.")
    ] = None,
    unary_density: Annotated[
        str | None, typer.Option("--unary-density", metavar="A-B", help="Density of the unary predicates.")
    ] = None,
    out_degree: Annotated[
        int | None, typer.Option("--out-degree", min=0, max=60, help="Give every object exactly so many successors.")
    ] = None,
    masked: Annotated[
        str | None, typer.Option("--masked", metavar="R,S", help="EC: the predicates with hidden atoms.")
    ] = None,
    mask_rate: Annotated[
        str | None, typer.Option("--mask-rate", metavar="A-B", help="EC: the share of their atoms that is hidden.")
    ] = None,
    template: Annotated[
        list[str] | None, typer.Option("--template", metavar="ID", help="Golds of this template; may be repeated.")
    ] = None,
    instance_seed: Annotated[
        int | None, typer.Option("--instance-seed", min=0, help="Make again the one instance that has this seed.")
    ] = None,
    instance_id: Annotated[str | None, typer.Option("--id", help="With --instance-seed: the id it had.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes at work at a time.")] = 1,
) -> int:
    """Make instances: a gold from a template, and worlds each of which refutes rivals that fitted those before it.

    Refused are instances that an atom, a part of the gold or any formula without quantifiers explains. With --certify
    all formulas up to the gold's AST size (plus --margin) are gone through and worlds added until those that fit are
    the gold's equals; the record says what is proven. Where a smaller formula says the same, it becomes the size
    that answers are measured by. The same command, seed and version give the same bytes for any --jobs; a run that
    was interrupted goes on where it stopped. If some instances cannot be made they are left out, told, and the exit
    code is 1; if none can, it is 2. A band whose first two instances fail, after forty golds each, is given up.

    \b
    Examples:
      induction generate --regime fullobs --band hard -n 20 --seed 7 -o hard.yaml.gz
      induction generate --regime ci -n 10 --ci-style identified --certify --jobs 2 -o ci.yaml.gz
      induction generate -n 775 --seed 1 --certify --jobs 2 -o suite.yaml.gz
      induction generate --regime fullobs --band hard --instance-seed 1398771004494892 --id hard_003 -o again.yaml
    """
    from induction.cli import output
    from induction.generation.bands import Overrides, find_bands, share_out
    from induction.generation.pipeline import CiStyle, instance_seeds
    from induction.generation.pipeline import instance_id as id_of
    from induction.worlds.formats import require_instance_file_name
    from induction.worlds.instance import Regime

    require_instance_file_name(out)
    if instance_id is not None and (not instance_id.strip() or not instance_id.isprintable()):
        raise UsageError(f"--id: '{printable(instance_id)}' is no id")
    bands = find_bands(regime, band)
    overrides = Overrides(
        worlds=_range("--worlds", worlds, int, 1, 40),
        objects=_range("--objects", objects, int, 1, _MOST_OBJECTS),
        density=_range("--density", density, float, 0, 1),
        unary_density=_range("--unary-density", unary_density, float, 0, 1),
        out_degree=out_degree,
        masked=None if masked is None else tuple(masked.replace(",", " ").split()),
        mask_rate=_range("--mask-rate", mask_rate, float, 0, 1),
    )
    options = _options(certify, margin, ci_style, overrides, template or [])
    for one in bands:
        options.overrides.apply(one)
    if options.template_ids:
        bands = _with_templates(bands, options.template_ids, chosen=band is not None)
    if options.ci_style is CiStyle.IDENTIFIED and not any(one.regime is Regime.CI for one in bands):
        raise UsageError("--ci-style goes with --regime ci or all")
    if certify and any(one.regime is Regime.EC for one in bands):
        output.note("EC instances are not certified: unknown atoms let many formulas through; the records count some")
    if instance_seed is None:
        if instance_id is not None:
            raise UsageError("--id goes with --instance-seed")
        shared_out = share_out(count or 10, bands)
        totals = Counter(one.label for one in shared_out)
        numbered = {one.label: enumerate(instance_seeds(seed, one, totals[one.label]), start=1) for one in bands}
        wanted = []
        for one in shared_out:
            number, one_seed = next(numbered[one.label])
            wanted.append((one, id_of(one, number), one_seed))
    else:
        if len(bands) != 1 or count is not None:
            raise UsageError("--instance-seed makes one instance: give its --regime and --band, and no --count")
        wanted = [(bands[0], instance_id or id_of(bands[0], 1), instance_seed)]
    made, failed = _make(wanted, options, seed, jobs, out)
    for name, problem in failed.items():
        output.note(f"{printable(name)}: left out: {problem}")
    output.print_fields([("wrote", printable(out, 200)), *_summary(made)])
    return 1 if failed else 0


def _with_templates(bands: "list[Band]", template_ids: tuple[str, ...], *, chosen: bool) -> "list[Band]":
    """The bands that have one of the templates.

    Raises:
        UsageError: none has, or of bands that were asked for one has not.
    """
    having = [band for band in bands if any(t.template_id in template_ids for t in band.templates)]
    if not having or (chosen and len(having) < len(bands)):
        from induction.families.templates import all_templates

        labels = dict.fromkeys(band for t in all_templates() if t.template_id in template_ids for band in t.bands)
        raise UsageError(f"{', '.join(template_ids)}: is of the bands {', '.join(labels)}")
    return having


def _options(
    certify: bool,
    margin: int,
    ci_style: str,
    overrides: "Overrides",
    templates: list[str],
) -> "Options":
    from induction.families.templates import all_templates
    from induction.generation.pipeline import CiStyle, Options

    if ci_style not in list(CiStyle):
        raise UsageError(f"--ci-style: '{printable(ci_style)}' is none of {', '.join(CiStyle)}")
    if margin and not certify:
        raise UsageError("--margin goes with --certify")
    known = {template.template_id for template in all_templates()}
    for name in templates:
        if name not in known:
            raise UsageError(f"--template: there is no '{printable(name)}'; induction templates lists them")
    return Options(certify, margin, CiStyle(ci_style), overrides, tuple(templates))


def _range(option: str, text: str | None, kind: Callable[[str], Any], least: float, most: float) -> Any:
    """The bounds written as `A-B` or `A`; None for None."""
    if text is None:
        return None
    number = r"[0-9]{1,9}" if kind is int else r"[0-9]{0,9}\.?[0-9]{1,9}"
    match = re.fullmatch(rf"\s*({number})\s*(?:-\s*({number}))?\s*", text)
    if match is None:
        raise UsageError(f"{option}: '{printable(text)}' is no range such as {'7-9' if kind is int else '0.2-0.35'}")
    low, high = kind(match[1]), kind(match[2] or match[1])
    if not least <= low <= high <= most:
        raise UsageError(f"{option}: {printable(text)} is not a range within {least} to {most}")
    return (low, high)


def _make(
    wanted: "Sequence[tuple[Band, str, int]]", options: "Options", seed: int, jobs: int, out: str
) -> "tuple[list[Instance], dict[str, str]]":
    """The instances, and of those that could not be made why."""
    from induction.cli import output
    from induction.generation.pipeline import prepare
    from induction.running.local import run_tasks
    from induction.running.rows import RowJournal
    from induction.running.tasks import Limits, Task
    from induction.worlds.formats import instances_as_bytes
    from induction.worlds.records import instance_from_record

    with output.journalled(RowJournal(out, _key(wanted, options, seed)), len(wanted), "instances") as journal:
        missing = [one for one in wanted if one[1] not in journal.rows]
        certified = any(options.certifies(band.regime) for band, _, _ in missing)
        if missing:
            prepare(certified=certified)  # processes then begin with what all of them need
        size = 1 if certified else min(_TOGETHER, max(1, len(missing) // (4 * jobs)))
        failed: dict[str, str] = {}
        trials = _trials(wanted)

        def is_given_up(band: "Band") -> bool:
            return all(name in failed for name in trials[band.label])

        def tasks() -> "Iterator[Task]":
            for _, of_band in itertools.groupby(missing, key=lambda one: one[0]):
                rest = list(of_band)
                while rest and not is_given_up(rest[0][0]):
                    together = max(size, _TRIAL) if rest[0][1] in trials[rest[0][0].label] else size
                    chunk, rest = rest[:together], rest[together:]
                    yield Task(chunk[0][1], _make_chunk, (chunk, options, seed, trials[chunk[0][0].label]))

        with output.progress_bar("making instances", len(wanted), len(journal.rows)) as advance:
            begun: dict[str, float] = {}  # share of the instance that a task has in hand, by task

            def show(task: str, share: float) -> None:
                advance(share - begun.get(task, 0.0))
                begun[task] = share

            for report in run_tasks(tasks(), jobs=jobs, limits=Limits(), on_progress=show):
                if report.result is None:
                    if report.failure == "interrupted":
                        continue  # others may have ended in time
                    raise InductionError(f"{report.name}: {report.failure}")
                show(report.name, 0.0)
                made = {name: {"instanceId": name, "record": record} for name, record, why in report.result if not why}
                journal.add_all(made)
                failed |= {name: why for name, _, why in report.result if why}
                advance(len(report.result))
        # Whether a band is given up must not hang on what of it was already under way.
        kept = [name for band, name, _ in wanted if name in journal.rows and not is_given_up(band)]
        if not kept:
            name = next(name for _, name, _ in wanted if name in failed)
            raise InductionError(f"{printable(name)}: {failed[name]}")
        instances: list[Instance] = []

        def content_of(rows: Iterable[dict[str, Any]]) -> bytes:
            instances.extend(instance_from_record(row["record"]) for row in rows)
            return instances_as_bytes(out, instances)

        journal.finish(kept, content_of)
    made_of_it = set(kept)
    given_up = f"the first {_TRIAL} of its band could not be made"
    return instances, {name: failed.get(name, given_up) for _, name, _ in wanted if name not in made_of_it}


def _trials(wanted: "Sequence[tuple[Band, str, int]]") -> dict[str, list[str]]:
    """Of each band, by label, the ids of the first instances."""
    trials: dict[str, list[str]] = {}
    for band, name, _ in wanted:
        first = trials.setdefault(band.label, [])
        if len(first) < _TRIAL:
            first.append(name)
    return trials


def _make_chunk(argument: Any, send: Callable[[Any], None]) -> list[tuple[str, Any, str]]:
    """In a process of its own: some instances of a band, each with its id and record, or why it could not be made.

    Sends how many of them are done; attempts that came to nothing count as parts of one.
    """
    from induction.generation.pipeline import ATTEMPTS, make_instance
    from induction.generation.refusals import NoInstanceError
    from induction.worlds.record_writing import record_from_instance

    chunk, options, seed, trial = argument
    made: list[tuple[str, Any, str]] = []

    def tell(attempts: int) -> None:
        send(len(made) + attempts / ATTEMPTS)

    for band, name, instance_seed in chunk:
        try:
            instance = make_instance(band, name, instance_seed, options, seed, tell)
        except KeyboardInterrupt:
            break  # what is made by then counts
        except NoInstanceError as error:
            made.append((name, None, str(error)))
            if error.is_certain:  # and so for all others of the band
                return [(one, None, str(error)) for _, one, _ in chunk]
            if name == trial[-1] and all(problem for _, _, problem in made):
                break
        else:
            made.append((name, record_from_instance(instance), ""))
    return made


def _key(wanted: "Sequence[tuple[Band, str, int]]", options: "Options", seed: int) -> dict[str, Any]:
    """What must be the same for instances of an earlier run to count for this one."""
    import hashlib
    import json

    from induction import __version__
    from induction.generation.distractors import load_pool

    listed = json.dumps([(band.label, name, instance_seed) for band, name, instance_seed in wanted])
    return {
        "command": "generate",
        "version": __version__,
        "pool": load_pool().sha256,
        "options": repr(options),
        "seed": seed,
        "instances": hashlib.sha256(listed.encode()).hexdigest(),
    }


def _summary(instances: "Sequence[Instance]") -> list[tuple[str, object]]:
    from collections import Counter

    groups = Counter(f"{instance.regime.value} {instance.band}" for instance in instances)
    fields: list[tuple[str, object]] = [("instances", len(instances))]
    fields.append(("bands", ", ".join(f"{name} {number}" for name, number in groups.items())))
    certificates = Counter(
        instance.description_extra["certificate"]["status"]
        for instance in instances
        if "certificate" in instance.description_extra
    )
    if certificates:
        fields.append(("certificates", ", ".join(f"{status} {n}" for status, n in certificates.most_common())))
    return fields
