"""`python -m node`: the same as the command `folkmoot`, for where scripts are not on the path."""

import sys

from node.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
