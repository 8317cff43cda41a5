package bisect_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay/bisect"
)

// shell returns a Fails that runs a line of shell.
func shell(t *testing.T, line string) func(context.Context, map[string]string) (bool, error) {
	return func(ctx context.Context, env map[string]string) (bool, error) {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
		cmd.Dir, cmd.Env = t.TempDir(), []string{}
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return true, nil
		}
		return false, err
	}
}

// TestCauses runs constructed cases of different kinds by a real shell, each among differences that do
// not matter.
func TestCauses(t *testing.T) {
	dir := t.TempDir()
	for name, exit := range map[string]int{"new": 0, "old": 1} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "tool"), fmt.Appendf(nil, "#!/bin/sh\nexit %d\n", exit), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	first := dir + "/new:" + dir + "/old:/usr/bin:/bin"
	last := dir + "/old:" + dir + "/new:/usr/bin:/bin"
	for name, test := range map[string]struct {
		line      string
		good, bad map[string]string
		want      string
	}{
		"order of PATH":            {"tool", map[string]string{"PATH": first}, map[string]string{"PATH": last}, "PATH"},
		"program not in PATH":      {"tool", map[string]string{"PATH": first}, map[string]string{"PATH": "/usr/bin:/bin"}, "PATH"},
		"language":                 {`test "$(printf 'b\nA\n' | sort | head -1)" = A && case "$LANG" in *UTF-8) ;; *) exit 1;; esac`, map[string]string{"LANG": "C.UTF-8"}, map[string]string{"LANG": "C"}, "LANG"},
		"a missing variable":       {`: "${TOKEN_FILE:?}"`, map[string]string{"TOKEN_FILE": "/t"}, nil, "TOKEN_FILE"},
		"a variable too many":      {`test -z "${PYTHONHOME+x}"`, nil, map[string]string{"PYTHONHOME": "/nowhere"}, "PYTHONHOME"},
		"an empty one":             {`test -n "$HOME"`, map[string]string{"HOME": "/root"}, map[string]string{"HOME": ""}, "HOME"},
		"two together":             {`! { test "$A" = 1 && test "$B" = 1; }`, nil, map[string]string{"A": "1", "B": "1"}, "A B"},
		"three together, apart":    {`! { test "$AA" && test "$MM" && test "$ZZ"; }`, nil, map[string]string{"AA": "1", "MM": "1", "ZZ": "1"}, "AA MM ZZ"},
		"a proxy":                  {`case "$http_proxy" in "") ;; *) exit 7;; esac`, nil, map[string]string{"http_proxy": "http://127.0.0.1:1"}, "http_proxy"},
		"one of two is enough":     {`test -z "$P$Q"`, nil, map[string]string{"P": "1", "Q": "1"}, "P"},
		"one set, another not":     {`test "$CACHE" || ! test "$OFFLINE"`, map[string]string{"CACHE": "/c"}, map[string]string{"OFFLINE": "1"}, "CACHE OFFLINE"},
		"a value with line breaks": {`test "$(echo "$OPTS" | wc -l)" -eq 1`, map[string]string{"OPTS": "a"}, map[string]string{"OPTS": "a\nb"}, "OPTS"},
	} {
		good, bad := map[string]string{"PATH": "/usr/bin:/bin"}, map[string]string{"PATH": "/usr/bin:/bin"}
		for i := range 13 {
			good[fmt.Sprintf("NOISE%d", i)], bad[fmt.Sprintf("X%dNOISE", i)] = "1", "2"
		}
		for n, v := range test.good {
			good[n] = v
		}
		for n, v := range test.bad {
			bad[n] = v
		}
		r, err := bisect.Minimal(t.Context(), good, bad, bisect.Options{Fails: shell(t, test.line)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := names(r.Cause); got != test.want || r.State != bisect.Found || r.Flaky != 0 {
			t.Errorf("%s: %s %s after %d trials, flaky %d; want %s", name, r.State, got, r.Trials, r.Flaky, test.want)
		}
	}
}

func names(all []bisect.Difference) string {
	var out []string
	for _, d := range all {
		out = append(out, d.Name)
	}
	return strings.Join(out, " ")
}

// TestNoVariable has causes that are no variable: a mask, and what always fails.
func TestNoVariable(t *testing.T) {
	for line, fails := range map[string]bool{`umask 077; touch f; test "$(stat -c %a f)" = 644`: true, "exit 3": true, "true": false} {
		r, err := bisect.Minimal(t.Context(), map[string]string{"PATH": "/usr/bin:/bin"}, map[string]string{"PATH": "/usr/bin:/bin", "A": "1"}, bisect.Options{Fails: shell(t, line)})
		if err != nil || r.State != bisect.Same || r.Fails != fails || len(r.Cause) != 0 {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
}

// TestFlaky has a command that fails by A, and now and then works all the same.
func TestFlaky(t *testing.T) {
	bad, n := map[string]string{"A": "1", "B": "1", "C": "1", "D": "1"}, 0
	r, err := bisect.Minimal(t.Context(), nil, bad, bisect.Options{Fails: func(_ context.Context, env map[string]string) (bool, error) {
		n++
		return env["A"] == "1" && n%5 != 0, nil
	}})
	if err != nil || names(r.Cause) != "A" || r.Flaky == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLimits ends searches early: what is known so far still fails.
func TestLimits(t *testing.T) {
	bad := map[string]string{}
	for i := range 40 {
		bad[fmt.Sprintf("V%02d", i)] = "1"
	}
	fails := func(_ context.Context, env map[string]string) (bool, error) {
		return env["V03"] == "1" && env["V31"] == "1", nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	for name, o := range map[string]bisect.Options{
		"trials": {Fails: fails, Trials: 20},
		"ctx": {Fails: fails, Progress: func(at bisect.Trial) {
			if at.Number == 20 {
				cancel()
			}
		}},
	} {
		r, err := bisect.Minimal(ctx, nil, bad, o)
		if err != nil || r.State != bisect.Limited || r.Trials > 20 {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if failed, _ := fails(nil, bisect.Apply(nil, r.Cause)); !failed && len(r.Cause) > 0 {
			t.Errorf("%s: the cause %s does not fail", name, names(r.Cause))
		}
		ctx, cancel = context.WithCancel(t.Context())
	}
	cancel()
	broken := errors.New("no sandbox")
	if _, err := bisect.Minimal(t.Context(), nil, bad, bisect.Options{Fails: func(context.Context, map[string]string) (bool, error) { return false, broken }}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the trial", err)
	}
}
