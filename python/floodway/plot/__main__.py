"""The command `python -m floodway.plot DIR`: every picture of the results in a folder, beside them."""

import sys

from floodway.common.errors import FloodwayError
from floodway.plot import save_all
from floodway.results import read

try:
    for file in save_all(read(sys.argv[1]), sys.argv[1]):
        sys.stdout.write(f"picture: {file}\n")
except FloodwayError as error:
    sys.exit(f"error: {error}")
