# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one module per command, imported when it is called.

While modules are imported, Ctrl-C simply ends the process; `wirerate.cli.main.main` handles it from
then on.
"""

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
