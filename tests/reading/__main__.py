"""Print the habits of each room, the worst functions of one, make a reading trial or print its ratings."""

from __future__ import annotations

import argparse
from pathlib import Path

import cs_score
from tests.reading.habits import ReadFunction, Signs, read_functions, signs_of
from tests.reading.trial import RATINGS, Project, make_trial, read_ratings

PACKAGE = Path(cs_score.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.reading", description=__doc__)
    actions = parser.add_subparsers(required=True)
    habits = actions.add_parser("habits", help="the counts for each room")
    habits.set_defaults(action=lambda arguments: print_habits())
    worst = actions.add_parser("worst", help="the functions of a room with most habits")
    worst.add_argument("room")
    worst.set_defaults(action=lambda arguments: print_worst(PACKAGE / arguments.room))
    trial = actions.add_parser("trial", help="write trial.txt and key.json")
    trial.add_argument("folder", type=Path)
    trial.add_argument("--seed", type=int, default=0)
    trial.add_argument("projects", nargs="+", metavar="NAME=FOLDER:COUNT")
    trial.set_defaults(action=lambda arguments: print_trial(arguments.projects, arguments.folder, arguments.seed))
    ratings = actions.add_parser("ratings", help="read ratings.tsv beside key.json")
    ratings.add_argument("folder", type=Path)
    ratings.set_defaults(action=lambda arguments: print_ratings(arguments.folder))
    arguments = parser.parse_args()
    arguments.action(arguments)


def print_habits() -> None:
    rooms = [folder for folder in sorted(PACKAGE.iterdir()) if (folder / "__init__.py").exists()]
    for folder in [PACKAGE, *rooms]:
        print(f"{folder.name:16} {_signs_text(signs_of(read_functions(folder)))}")


def _signs_text(signs: Signs) -> str:
    habits = ", ".join(f"{habit} {count:.1f}" for habit, count in signs.per_1000_lines.items() if count)
    return (
        f"{signs.functions} functions, {signs.with_many_habits:.1f} % with three habits or more; "
        f"docstrings that begin with a verb {signs.verb_first:.0f} %, participles as names {signs.participles:.1f} %; "
        f"in 1,000 lines: {habits}"
    )


def print_worst(folder: Path) -> None:
    functions = sorted(read_functions(folder), key=_number_of_habits, reverse=True)
    for function in functions[:40]:
        habits = ", ".join(f"{habit} {count}" for habit, count in function.habits.most_common() if count)
        print(f"{function.path}:{function.line} {function.name}: {habits}")


def _number_of_habits(function: ReadFunction) -> int:
    return function.habits.total()


def print_trial(texts: list[str], folder: Path, seed: int) -> None:
    projects = []
    for text in texts:
        name, _, rest = text.partition("=")
        project_folder, _, count = rest.rpartition(":")
        projects.append(Project(name, Path(project_folder), int(count)))
    key = make_trial(projects, folder, seed)
    print(f"{len(key)} functions in {folder / 'trial.txt'}")


def print_ratings(folder: Path) -> None:
    for ratings in read_ratings(folder):
        means = ", ".join(f"{meaning} {ratings.means[column]:.2f}" for column, meaning in RATINGS.items())
        print(
            f"{ratings.project}: {ratings.functions} functions, {means}, definitions to open {ratings.opens:.2f}, "
            f"{ratings.low} with a rating of 3 or less"
        )


if __name__ == "__main__":
    main()
