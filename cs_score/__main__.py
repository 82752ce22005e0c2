"""`python -m cs_score` is the command `cs-score`."""

from cs_score.cli.main import console

if __name__ == "__main__":
    console()
