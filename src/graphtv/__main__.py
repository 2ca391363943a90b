"""``python -m graphtv`` is ``graphtv``."""

import sys

from graphtv.cli import main

sys.exit(main())
