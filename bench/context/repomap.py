"""Ranks the files of commits as aider's RepoMap does (PyPI aider-chat, tested with 0.86.2).

Reads one JSON object a line: the git directory, the commit, the given file and the text. Writes one
list of paths a line, the best first: files in the order in which RepoMap lists their definitions,
with the given file in the chat, and the words of the text and the files that it names as mentioned.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from aider.repomap import RepoMap


class Quiet:
    def tool_output(self, *words):
        pass

    tool_warning = tool_error = tool_output

    def read_text(self, name):
        try:
            return Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None


class ByContent(RepoMap):
    """A RepoMap that reads each content of a file once, and says nothing."""

    def __init__(self, root, blobs):
        self.blobs, self.known = blobs, {}
        super().__init__(root=root, io=Quiet())

    def load_tags_cache(self):
        self.TAGS_CACHE = range(1 << 30)  # its length suppresses the progress bar

    def get_tags(self, fname, rel_fname):
        key = (rel_fname, self.blobs.get(rel_fname))
        if key not in self.known:
            self.known[key] = list(self.get_tags_raw(fname, rel_fname))
        return self.known[key]


class Tree:
    """The files of one repository at the commit that was asked last."""

    def __init__(self, git):
        self.git, self.blobs = git, {}
        self.folder = tempfile.mkdtemp(prefix="recount-repomap-")
        self.map = ByContent(self.folder, self.blobs)

    def move(self, commit):
        listed = subprocess.run(["git", "-C", self.git, "ls-tree", "-r", "-l", "-z", commit], check=True, capture_output=True).stdout
        now = {}
        for entry in listed.decode(errors="replace").split("\0"):
            meta, _, path = entry.partition("\t")
            fields = meta.split()
            if len(fields) == 4 and fields[0].startswith("100") and fields[3].isdigit() and int(fields[3]) <= 400_000:
                now[path] = fields[2]
        for path in set(self.blobs) - set(now):
            Path(self.folder, path).unlink(missing_ok=True)
            del self.blobs[path]
        for path, blob in now.items():
            if self.blobs.get(path) == blob:
                continue
            content = subprocess.run(["git", "-C", self.git, "cat-file", "blob", blob], capture_output=True)
            if content.returncode == 0 and b"\0" not in content.stdout:
                target = Path(self.folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.stdout)
                self.blobs[path] = blob


def mentioned(text, paths):
    """The files that a text names: by path, by a unique last part, or by the stem of one."""
    tokens = {w.rstrip(",.!;:?").strip("\"'`*_") for w in text.split()}
    last = {}
    for path in paths:
        last.setdefault(os.path.basename(path), []).append(path)
    named = {p for p in paths if p in tokens}
    named |= {same[0] for name, same in last.items() if name in tokens and len(same) == 1 and re.search(r"[._-]", name)}
    words = {w.lower() for w in re.split(r"\W+", text) if len(w) >= 5}
    return named | {p for p in paths if len(Path(p).stem) >= 5 and Path(p).stem.lower() in words}


def main():
    tree = None
    for line in sys.stdin:
        asked = json.loads(line)
        if tree is None or tree.git != asked["git"]:
            tree = Tree(asked["git"])
        tree.move(asked["commit"])
        paths = sorted(tree.blobs)
        full = {os.path.join(tree.folder, p) for p in paths}
        given = os.path.join(tree.folder, asked["given"])
        tags = tree.map.get_ranked_tags({given}, full - {given}, mentioned(asked["text"], paths), set(re.split(r"\W+", asked["text"])))
        ranked = list(dict.fromkeys(t[0] for t in tags if t[0] != asked["given"]))
        print(json.dumps(ranked[:200]), flush=True)


if __name__ == "__main__":
    main()
