# SPDX-License-Identifier: BSD-3-Clause
"""Where `wirerate` and ``python -m wirerate`` begin: before anything is imported that takes time.

While modules are imported, Ctrl-C simply ends the process, without a word. The commands handle it
from then on (`wirerate.cli.main`).
"""

import signal
import sys


def main() -> int:
    """Run the program and return its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from wirerate.cli.main import main as run  # noqa: PLC0415 -- see above

    return run()


if __name__ == "__main__":
    sys.exit(main())
