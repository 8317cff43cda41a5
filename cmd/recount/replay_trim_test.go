package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrim has a program that does the same whatever stood in a file before, which only a trial can tell: the plan without
// what the trials leave out comes to the same end, and the directory of the trials stays as it was.
func TestTrim(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	out, code := w.sh(`mkdir a b; printf 'sort words > out; wc -l < out >> out\n' > a/gen; printf 'b\na\n' > a/words; cp a/* b; cd a
		export RECOUNT_SESSION=t
		recount record --cwd "$PWD" --exit 0 --at "$(date -u -d "-50 seconds" +%FT%TZ)" -- 'echo c >> words'; echo c >> words
		recount record --cwd "$PWD" --exit 0 --at "$(date -u -d "-40 seconds" +%FT%TZ)" -- 'sh gen'; sh gen
		recount record --cwd "$PWD" --exit 0 --at "$(date -u -d "-30 seconds" +%FT%TZ)" -- "sed -i '/c/d' words"; sed -i '/c/d' words
		recount record --cwd "$PWD" --exit 0 --at "$(date -u -d "-20 seconds" +%FT%TZ)" -- 'sh gen'; sh gen
		recount record --cwd "$PWD" --exit 0 --at "$(date -u -d "-10 seconds" +%FT%TZ)" -- 'echo x > more'; echo x > more`)
	if code != 0 {
		t.Fatal(out)
	}
	replay := `recount replay --session t --map "$PWD/a=$PWD/b" --dir b `
	if out, code := w.sh(replay + "--plan"); code != 0 || !strings.Contains(out, "5 steps of session") {
		t.Fatalf("the evidence tells too much for this test: exit code %d\n%s", code, out)
	}
	out, code = w.sh(replay + "--trim --plan")
	if strings.Contains(out, "no sandbox on this machine") {
		t.Skip(out)
	}
	if code != 0 || !strings.Contains(out, "a trial without it, in a sandbox, came to the same end") || !strings.Contains(out, "2 steps of 5 left after 7 trials") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if b, err := os.ReadDir(filepath.Join(w.dir, "work/b")); err != nil || len(b) != 2 {
		t.Errorf("trials left something: %v, %v", b, err)
	}
	if out, code := w.sh(replay + "--trim --apply && diff -r a b && recount replayed --json"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	for args, want := range map[string]string{
		"--trim --network": "without the network", "--trim --isolation none": "in the sandbox", "--trim --trials 1 --plan": "want 3 or more",
		"--trim --without 1": "the numbers of steps", "--trim --resume r-1": "stays as it is",
	} {
		if out, code := w.sh(replay + args); code != 2 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d\n%s", args, code, out)
		}
	}
}
