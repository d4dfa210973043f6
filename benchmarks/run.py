from pathlib import Path
import sys,tempfile
import fires
with tempfile.TemporaryDirectory() as f:
    print(fires.table(Path(f), quick="--quick" in sys.argv))
