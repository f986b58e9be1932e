"""`induction prompt`: what to ask a model."""

import enum
import json
from typing import Annotated, Any

import typer

from induction.errors import UsageError, printable


class PromptFormat(enum.StrEnum):
    """How prompts are written."""

    TEXT = "text"
    JSONL = "jsonl"
    OPENAI = "openai-batch"
    ANTHROPIC = "anthropic-batch"


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    instance_id: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="For this instance alone; may be repeated.")
    ] = None,
    form: Annotated[PromptFormat, typer.Option("--format", help="How to write them.")] = PromptFormat.TEXT,
    model: Annotated[str, typer.Option("--model", help="Batch files: the model to ask.")] = "",
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Batch files: most tokens of an answer.")
    ] = 32_000,
    out: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to standard output."),
    ] = None,
) -> int:
    """Write the prompt of each instance: the language, what is asked for, the worlds, the form of the answer.

    text is for reading; jsonl has a row for each instance with its prompt and a rough count of tokens; openai-batch
    and anthropic-batch are for the two providers' batch interfaces, whose output files `induction score` reads.

    \b
    Examples:
      induction prompt suite.yaml.gz --id hard_001
      induction prompt suite.yaml.gz --format jsonl -o prompts.jsonl
      induction prompt suite.yaml.gz --format openai-batch --model MODEL -o batch.jsonl
    """
    from induction.cli import inputs, output
    from induction.scoring import prompts
    from induction.worlds.writing import write_whole

    instances, faults, _ = inputs.load_instances(file, instance_id)
    if form in (PromptFormat.OPENAI, PromptFormat.ANTHROPIC) and not model:
        raise UsageError(f"--format {form.value}: which model? Give --model")
    texts = [prompts.prompt_text(instance) for instance in instances]
    content: str
    if form is PromptFormat.TEXT:
        content = ("\n" + "=" * 80 + "\n\n").join(texts)
    else:
        rows: list[dict[str, Any]] = []
        for instance, text in zip(instances, texts, strict=True):
            if form is PromptFormat.JSONL:
                tokens = prompts.estimate_tokens(text)
                rows.append({"instanceId": instance.instance_id, "prompt": text, "estimatedTokens": tokens})
            elif form is PromptFormat.OPENAI:
                rows.append(prompts.openai_request(instance, model, max_tokens))
            else:
                rows.append(prompts.anthropic_request(instance, model, max_tokens))
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if out is None:
        print(content, end="")
    else:
        write_whole(out, content.encode())
        total = sum(map(prompts.estimate_tokens, texts))
        print(f"wrote {printable(out, 200)}: {output.plural(len(texts), 'prompt')}, some {total:,} tokens")
    inputs.report_faults(faults)
    return 2 if faults else 0
