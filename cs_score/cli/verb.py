"""Make the commands of a verb such as `analyze`, one for each task: `analyze`, `analyze scifact`, `analyze claims`. The
function `do_work` of a verb takes a task and a command line, and does the work of the verb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.runtime import Late
from cs_score.cli.core import DEFAULT_PROPERTIES, Command, CommandLine, CommandProperties, Option, Parameter, Section
from cs_score.cli.shared_options import EXAMPLE, EXAMPLE_OF_GOLD, EXAMPLE_OF_TWO, select_options
from cs_score.cli.task_options import options_of_task
from cs_score.tasks import COLD_START, mode_named, stage_named

if TYPE_CHECKING:
    from cs_score.cli import run_options
else:  # calls for evidence tasks need no options of runs
    run_options = Late("cs_score.cli.run_options")

Work: TypeAlias = Callable[[str, CommandLine], int]
"""A function that does the work of a verb. It gets the name of a task or a stage of it, and the command line, and
returns the exit status."""

POLICY_OPTIONS: Final = {
    "analyze": "--also-policy",
    "compare": "--inclusion",
    "diff": "--policy-b",
    "report": "--also-policy --policy-b",
    "score": "--inclusion --second-assessments",
}
"""Options, by verb, that only those evidence tasks have whose answers are judged under a policy."""


class VerbUsage(NamedTuple):
    """The options, formats and help of a verb, either for Cold Start runs or for the predictions of evidence tasks."""

    options: str
    """The names of its options, separated by blanks."""
    formats: str
    """The formats of the result, separated by blanks, the default first."""
    files: str
    """The help on the words that are not options: the files."""
    sections: Sequence[Section] = ()
    """Further sections of the help; they come after the sections for all tasks."""
    example: str = "$ONE"
    """The words of an example of a call.

    $ONE stands for a sample of a run or of predictions with its gold, $TWO for two of them, $GOLD for gold alone, and
    $MEASURE for a measure.
    """
    folder_format: str = ""
    """The format in which -o names a folder."""


class Verb(NamedTuple):
    """A verb such as `analyze`, which has a command for each task: how it is called for Cold Start runs, how it is
    called for predictions of evidence tasks, and what both have in common. The verb makes its commands from these
    descriptions.
    """

    usage_for_runs: Callable[[], VerbUsage]
    """Returns how the verb is called for runs. It is a function so that commands for predictions do not need it."""
    usage_for_evidence: VerbUsage
    own_options: Sequence[Option] = ()
    """Options that only this verb has."""
    sections: Sequence[Section] = ()
    """Sections of the help for all tasks."""
    summary: str = ""
    """The first line of the help of evidence tasks, with {task} and {unit}; empty if the task has a summary itself."""
    needs_files: bool = True
    """Whether a call for Cold Start runs needs at least one file."""
    needs_output: bool = False
    """Whether -o must be given."""
    text_of_failure: Callable[[str, str], str] = DEFAULT_PROPERTIES.text_of_failure
    """Returns an error in the format of the result, from the format and the message."""

    def command(self, do_work: Work) -> Callable[[str], Command]:
        """Return a function that makes the verb's command for a task. `do_work` does the work of the verb for any task.

        This method is used as a decorator of `do_work`, and the verb takes its name from the decorated function: the
        function `bundle_codabench` becomes the verb `bundle codabench`.
        """
        verb_name = do_work.__name__.replace("_", " ")

        def make_command(task: str) -> Command:
            """Return the command of the verb for a task, such as `analyze scifact`. The command calls `do_work`."""
            if task == COLD_START:
                return self._command_for_runs(verb_name, do_work)
            return self._command_for_evidence(verb_name, task, do_work)

        return make_command

    def _command_for_runs(self, verb_name: str, do_work: Work) -> Command:
        """Return the verb's command for Cold Start runs. `do_work` does the work of the verb for any task."""
        usage = self.usage_for_runs()
        files_usage = "files..." if self.needs_files else "[files...]"
        return Command(
            verb_name,
            run_options.select_run_options(usage.options, self.own_options),
            Parameter(files_usage, usage.files),
            body=_body_for_task(do_work, COLD_START),
            properties=self._properties_of_command(COLD_START, usage, run_options.LEGEND, summary=""),
        )

    def _command_for_evidence(self, verb_name: str, task: str, do_work: Work) -> Command:
        """Return the verb's command for the predictions of an evidence task.

        The command is named after the verb and the task, for example `analyze scifact`. The scoring command is an
        exception: it is named after the task alone, for example `scifact`. The command takes the options of both the
        verb and the task. The last section of its help describes the files of the task.
        """
        command_name = task if verb_name == "score" else f"{verb_name} {task}"
        usage = self.usage_for_evidence
        section_on_files = ("Files", mode_named(task).files)
        summary = self._summary_for_evidence(task)
        return Command(
            command_name,
            self._options_for_evidence(verb_name, task),
            Parameter("[files...]", usage.files),
            body=_body_for_task(do_work, task),
            properties=self._properties_of_command(task, usage, [section_on_files], summary),
        )

    def _properties_of_command(
        self, task: str, usage: VerbUsage, last_sections: Sequence[Section], summary: str
    ) -> CommandProperties:
        """Return the properties of the verb's command for a task, such as its formats, its example and its help.

        The help consists of the sections of the verb, the sections in `usage`, and `last_sections`. Its first line is
        `summary`. If `summary` is empty, the summary in the table of commands is used instead.
        """
        return CommandProperties(
            example=_example(task, usage.example),
            summary=summary,
            sections=(*self.sections, *usage.sections, *last_sections),
            formats=usage.formats.split(),
            folder_format=usage.folder_format,
            needs_output=self.needs_output,
            text_of_failure=self.text_of_failure,
        )

    def _options_for_evidence(self, verb_name: str, task: str) -> list[Option]:
        """Return the options of the verb's command for an evidence task.

        The list contains the options of the verb and of the task. If the answers of the task are judged under a policy,
        it also contains the options for policies.
        """
        options = select_options(self.usage_for_evidence.options, self.own_options)
        options += options_of_task(task)
        if mode_named(task).has_policies:
            policy_options = POLICY_OPTIONS.get(verb_name, "")
            # Only Cold Start runs have options for policies, which `select_options` does not know.
            options += run_options.select_run_options(policy_options, self.own_options)
        return options

    def _summary_for_evidence(self, task: str) -> str:
        """Return the first line of the help for an evidence task: the verb's summary or, if empty, the task's."""
        task_mode = mode_named(task)
        summary = self.summary.format(task=task, unit=task_mode.unit)
        return summary or task_mode.summary


def _body_for_task(do_work: Work, task: str) -> Callable[[CommandLine], int]:
    """Return the function that does the work of a verb for a task: it takes a command line and returns a status.

    If --stage is given, the stage replaces the task. Stages such as `retrieval` of SciFact are scored like separate
    tasks.
    """

    def work_for_task(command_line: CommandLine) -> int:
        """Do the work of the verb, for example analysing predictions, for a command line. Return the exit status."""
        stage = command_line.get("--stage")
        if stage is None:
            return do_work(task, command_line)
        return do_work(stage_named(task, stage), command_line)

    return work_for_task


class _Sample(NamedTuple):
    """The samples of a task for examples: the files `TASK-gold`, `TASK-a` and `TASK-b`, and a measure."""

    ending: str
    measure: str
    options: str = ""
    """Options that a call with the samples needs, with a blank in front."""


_SAMPLE_BY_TASK: Final = {
    "scifact": _Sample("jsonl", "sentence_label_f1"),
    "claims": _Sample("jsonl", "sentence_f1"),
    "r4c": _Sample("json", "er_f1"),
    "hotpotqa": _Sample("json", "joint_f1"),
    "pool": _Sample("csv", "micro-f1", " --policy right=CORRECT,half=PARTIAL,wrong=INCORRECT,ignore=JUDGE_ERROR"),
}


def _example(task: str, words: str) -> str:
    """Return the words of an example of a call, with the samples of a task for $ONE, $TWO, $GOLD and $MEASURE.

    For example `--unit 7 $ONE` becomes `--unit 7 --gold assessments/r4c-gold.json --predictions submissions/r4c-a.json`
    for the task r4c.
    """
    for placeholder, sample_words in _words_by_placeholder(task).items():
        words = words.replace(placeholder, sample_words)
    return words


def _words_by_placeholder(task: str) -> dict[str, str]:
    """Return the words for each placeholder of examples: `{"$MEASURE": "joint_f1", ...}` for hotpotqa.

    For a task of another package, whose files are not among our samples, they are GOLD, PREDICTIONS and so on.
    """
    if task == COLD_START:
        return {"$ONE": EXAMPLE, "$TWO": EXAMPLE_OF_TWO, "$GOLD": EXAMPLE_OF_GOLD}
    if task in _SAMPLE_BY_TASK:
        return _words_of_sample(task, _SAMPLE_BY_TASK[task])
    return {
        "$ONE": "--gold GOLD --predictions PREDICTIONS",
        "$TWO": "--gold GOLD A B",
        "$GOLD": "--gold GOLD --sample SUBMISSION",
        "$MEASURE": mode_named(task).measures[0],
    }


def _words_of_sample(task: str, sample: _Sample) -> dict[str, str]:
    """Return the replacement for each placeholder in an example, using the names of the task's sample files.

    For example, `$GOLD` is replaced by `--gold assessments/scifact-gold.jsonl`.
    """
    gold = f"--gold assessments/{task}-gold.{sample.ending}"
    system_a = f"submissions/{task}-a.{sample.ending}"
    system_b = f"submissions/{task}-b.{sample.ending}"
    return {
        "$ONE": f"{gold} --predictions {system_a}{sample.options}",
        "$TWO": f"{gold} {system_a} {system_b}{sample.options}",
        "$GOLD": f"{gold}{sample.options}",
        "$MEASURE": sample.measure,
    }
