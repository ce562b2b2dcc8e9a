"""The command line: `vesica`, or `python -m vesica`."""

from __future__ import annotations

import os
import shutil
import signal
import sys

from vesica import _vesica


def main() -> int:
    """Runs the command line of this process. Returns the exit code."""
    # The engine handles signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    started_as = sys.argv[0]
    beside = os.path.join(os.path.dirname(sys.executable), "vesica")
    candidates = [started_as, beside, shutil.which("vesica")]
    program = next((path for path in candidates if path and os.access(path, os.X_OK)), started_as)
    return _vesica.command(os.path.abspath(program), ["vesica", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
