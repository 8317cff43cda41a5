"""Ranks the files of commits as RepoMap of Agent Retrieval Bench does: the one whose figures its
authors publish, which adds words of the text and the task's kind to a walk on the graph of files.

It runs the authors' own package (MIT), whose folder `src` is the first argument. Reads and writes the
same lines as repomap.py.
"""

import json
import subprocess
import sys

sys.path.insert(0, sys.argv[1])

from agent_retrieval_bench.corpus import chunks_for_file, is_candidate_path  # noqa: E402
from agent_retrieval_bench.repomap_eval import build_repomap_index, rank_files_for_sample  # noqa: E402


class Blobs:
    """The contents of a repository, each cut into chunks once for each path."""

    def __init__(self, git):
        self.git, self.known = git, {}
        self.cat = subprocess.Popen(["git", "-C", git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def chunks(self, path, blob):
        if (path, blob) not in self.known:
            self.cat.stdin.write(blob.encode() + b"\n")
            self.cat.stdin.flush()
            head = self.cat.stdout.readline().split()
            content = self.cat.stdout.read(int(head[2]) + 1)[:-1] if len(head) == 3 else b""
            text = "" if b"\0" in content else content.decode(errors="replace")
            self.known[path, blob] = chunks_for_file("", "", path, text) if text else []
        return self.known[path, blob]

    def index(self, commit):
        listed = subprocess.run(["git", "-C", self.git, "ls-tree", "-r", "-l", "-z", commit], check=True, capture_output=True).stdout
        all_chunks = []
        for entry in listed.decode(errors="replace").split("\0"):
            meta, _, path = entry.partition("\t")
            fields = meta.split()
            if len(fields) == 4 and fields[0].startswith("100") and fields[3].isdigit() and int(fields[3]) <= 400_000 and is_candidate_path(path):
                all_chunks += self.chunks(path, fields[2])
        return build_repomap_index(all_chunks)


def main():
    blobs, commit, index = None, None, None
    for line in sys.stdin:
        asked = json.loads(line)
        if blobs is None or blobs.git != asked["git"]:
            blobs, commit = Blobs(asked["git"]), None
        if commit != asked["commit"]:
            commit, index = asked["commit"], blobs.index(asked["commit"])
        title, _, body = asked["text"].partition("\n")
        query = {"changed_file": asked["given"], "pr_body": body, "pr_title": title}
        ranked = rank_files_for_sample(
            sample={"task_type": asked["task"], "query": query},
            query_text=json.dumps(query, ensure_ascii=False, sort_keys=True),
            index=index,
            candidate_paths=set(index.nodes) - {asked["given"]},
            query_weight=0.65, pagerank_weight=0.25, affinity_weight=0.10,
        )
        print(json.dumps([path for path, _, _ in ranked[:200]]), flush=True)


if __name__ == "__main__":
    main()
