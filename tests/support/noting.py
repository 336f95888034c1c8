"""Stand-ins that note their words as JSON: apptainer, envs/image, and bsub, bjobs and bkill of LSF."""

import sys

# Runs what stands behind the image, and notes its own words and what reached the environment.
APPTAINER = f"""\
#!{sys.executable}
import json, os, sys
words = sys.argv[1:]
inside = words[words.index("build/images/openmpi.sif") + 1 :]
with open("contained.jsonl", "a") as notes:
    notes.write(json.dumps([words, os.environ.get("A")]) + "\\n")
inside[0] == "sh" or os.execv(inside[0], inside)
"""
IMAGE = f"""\
#!{sys.executable}
import json, pathlib, sys
pathlib.Path("image.json").write_text(json.dumps(sys.argv[1:]))
for suffix in ("sif", "sha256", "recipe"):
    pathlib.Path(f"build/images/openmpi.{{suffix}}").write_text("{"0" * 64}")
"""
LSF = f"""\
#!{sys.executable}
import json, pathlib, subprocess, sys
command, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
if command == "bsub":
    with open("bsub.jsonl", "a") as notes:
        notes.write(json.dumps(words) + "\\n")
    with open("bsub.log", "ab") as log:
        done = subprocess.run(words[-1:], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    number = len(open("bsub.jsonl").readlines())
    pathlib.Path(f"lsf.{{number}}").write_text("EXIT" if done.returncode else "DONE")
    print(f"Job <{{number}}> is submitted to queue <batch>.")
else:
    print(pathlib.Path(f"lsf.{{words[-1]}}").read_text())
"""
