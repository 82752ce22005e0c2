"""`python -m cs_score` is the command `cs-score`."""

import sys

from cs_score.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
