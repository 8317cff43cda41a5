package recording

import "testing"

func TestWithoutOwn(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // want is "" if nothing is recorded
		{"make test", "make test"},
		{"git commit -m 'mend recount forget'", "git commit -m 'mend recount forget'"},
		{"echo 'recount forget hunter2' >script", ""}, // looks like a call: omitting it is safe
		{"grep -r RECOUNT_TOKEN .", "grep -r RECOUNT_TOKEN ."},
		{"cd src/recount && make", "cd src/recount && make"},
		{"ls recount", "ls recount"},
		{"kubectl logs recount", "kubectl logs recount"},
		{"go build ./cmd/recount", "go build ./cmd/recount"},
		{"vim docs/recount.md; git diff", "vim docs/recount.md; git diff"},
		{"grep -r 'recount' .", "grep -r 'recount' ."},
		{"echo it\\'s", "echo it\\'s"},
		{`echo "un`, `echo "un`},

		{"recount forget --pattern hunter2", ""},
		{"  recount forget --pattern hunter2", ""},
		{"/usr/local/bin/recount token add x", ""},
		{"./bin/recount forget hunter2", ""},
		{`\recount forget hunter2`, ""},
		{`"recount" forget hunter2`, ""},
		{`re"count" forget hunter2`, ""},
		{"sudo -u ada recount forget --pattern hunter2", ""},
		{"sudo -E env RECOUNT_TOKEN=hunter2 recount find x", ""},
		{"RECOUNT_TOKEN=hunter2 recount find x", ""},
		{"export RECOUNT_TOKEN=hunter2", ""},
		{"set -gx RECOUNT_TOKEN hunter2", ""},
		{"env -i PATH=/bin recount forget hunter2", ""},
		{"timeout 5 nice -n 3 recount forget hunter2", ""},
		{"echo hunter2 | recount forget --pattern-file -", ""},
		{"echo hunter2 | sudo recount forget -", ""},
		{"cat x | xargs -n 1 recount forget --pattern hunter2", ""},
		{"ssh host recount forget --pattern hunter2", ""},
		{"ssh host 'recount --json forget --pattern hunter2'", ""},
		{"bash -c 'recount --data-dir /x forget hunter2'", ""},
		{"recount forget <<<hunter2", ""},
		{"recount forget - <<EOF\nhunter2\nEOF", ""},
		{"make; recount forget - <<EOF\nhunter2\nEOF", ""},
		{"echo $(recount forget hunter2)", ""},
		{"for x in a b; do recount forget hunter2; done", ""},
		{"(recount forget hunter2)", ""},
		{"{ recount forget hunter2; }", ""},
		{"recount forget --pattern 'hunter2; echo hunter3'", ""},
		{"recount forget --pattern \"a\nhunter2\"", ""},
		{"recount forget --pattern hunter2 2>&1", ""},
		{"recount forget --pattern 'unfinished hunter2", ""},
		{"recount exec -- make test", ""},
		{"recount-record --shell bash", ""},

		{"make test && recount forget --pattern hunter2", "make test && recount"},
		{"make test; RECOUNT_TOKEN=hunter2 recount find x | grep hunter2; ls", "make test; recount; ls"},
		{"recount hunter2 || true", "recount || true"},
		{"sleep 1 & recount why hunter2", "sleep 1 & recount"},
		{"make >out 2>&1 && recount find hunter2", "make >out 2>&1 && recount"},
	} {
		got, ok := WithoutOwn(c.in)
		if !ok {
			got = ""
		}
		if got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}
