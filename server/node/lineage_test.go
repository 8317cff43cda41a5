package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// openedLocal opens a directory like a verb without a server, while fn runs.
func openedLocal(t *testing.T, dir string, fn func(n *node.Node)) {
	t.Helper()
	n, err := node.OpenLocal(t.Context(), config(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	fn(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// record appends commands like `recount record` without a server: in a node of its own without
// projections.
func record(t *testing.T, dir string, commands ...string) {
	t.Helper()
	cfg := config(dir)
	cfg.Roles = []string{node.RoleLog, node.RoleIngest}
	for _, c := range commands {
		n, err := node.OpenLocal(t.Context(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(t.Context(), events(c)); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered returns commands that share words, so that one question finds all of them.
func numbered(word string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("echo %s number%d", word, i))
	}
	return all
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// logged returns the commands in a log, in any order.
func logged(t *testing.T, n *node.Node) (all []string) {
	t.Helper()
	err := n.Log().Tail(t.Context(), pipeline.TailOptions{Topics: []string{"commands"}, Last: -1}, func(lr schemas.LogRecord) error {
		e, err := lr.Event()
		if err != nil {
			return err
		}
		m, err := e.DecodePayload()
		if err != nil {
			return err
		}
		all = append(all, m.(interface{ GetCommand() string }).GetCommand())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// shown returns the commands that answers contain.
func shown(t *testing.T, ask question.Answerer) (all []string) {
	t.Helper()
	r, err := commands.FindQuestion.Ask(t.Context(), ask, commands.FindRequest{Text: "echo", Limit: 100, Repeats: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits {
		all = append(all, h.Command)
	}
	slices.Sort(all)
	return all
}

// TestStateOfAnotherLog checks that answers never come from another log, whatever happened to the
// log or the projections beside it: in each case the projections are rebuilt, and what is appended
// is found.
func TestStateOfAnotherLog(t *testing.T) {
	// made returns a data directory with eight commands, and a copy of its log from when it had
	// three.
	made := func(t *testing.T) (dir, older string) {
		dir, older = filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "older")
		openedLocal(t, dir, func(n *node.Node) {
			if _, err := n.Append(t.Context(), events(numbered("first", 3)...)); err != nil {
				t.Fatal(err)
			}
			shown(t, n)
		})
		copyDir(t, filepath.Join(dir, "log"), older)
		openedLocal(t, dir, func(n *node.Node) {
			if _, err := n.Append(t.Context(), events(numbered("second", 5)...)); err != nil {
				t.Fatal(err)
			}
			if got := shown(t, n); len(got) != 8 {
				t.Fatalf("got %q", got)
			}
		})
		return dir, older
	}
	other := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "other")
		openedLocal(t, dir, func(n *node.Node) {
			if _, err := n.Append(t.Context(), events(numbered("other", 9)...)); err != nil {
				t.Fatal(err)
			}
			shown(t, n)
		})
		return dir
	}
	ways := map[string]func(t *testing.T) string{
		"an older copy of the log is restored": func(t *testing.T) string {
			dir, older := made(t)
			copyDir(t, older, filepath.Join(dir, "log"))
			return dir
		},
		"an older copy that has grown past": func(t *testing.T) string {
			dir, older := made(t)
			copyDir(t, older, filepath.Join(dir, "log"))
			record(t, dir, numbered("third", 6)...)
			return dir
		},
		"an older copy that has grown past by a server's appends": func(t *testing.T) string {
			dir, older := made(t)
			copyDir(t, older, filepath.Join(dir, "log"))
			cfg := config(dir)
			cfg.Roles = []string{node.RoleLog, node.RoleIngest}
			n, err := node.OpenLocal(t.Context(), cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.Append(t.Context(), events(numbered("third", 7)...)); err != nil {
				t.Fatal(err)
			}
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"an older copy that has grown to the same length": func(t *testing.T) string {
			dir, older := made(t)
			copyDir(t, older, filepath.Join(dir, "log"))
			record(t, dir, numbered("third", 5)...)
			return dir
		},
		"the log has lost its end, and that was accepted": func(t *testing.T) string {
			dir, older := made(t)
			// The high-water file is kept and reveals the loss.
			copyDir(t, filepath.Join(older, "store"), filepath.Join(dir, "log", "store"))
			cfg := config(dir)
			cfg.Kafka.AcceptLoss = true
			cfg.Roles = []string{node.RoleLog, node.RoleIngest}
			n, err := node.OpenLocal(t.Context(), cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"the log is gone": func(t *testing.T) string {
			dir, _ := made(t)
			if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"the log is gone, and a new one has grown past": func(t *testing.T) string {
			dir, _ := made(t)
			if err := os.RemoveAll(filepath.Join(dir, "log")); err != nil {
				t.Fatal(err)
			}
			record(t, dir, numbered("anew", 9)...)
			return dir
		},
		"the log of another directory": func(t *testing.T) string {
			dir, _ := made(t)
			copyDir(t, filepath.Join(other(t), "log"), filepath.Join(dir, "log"))
			return dir
		},
		"the projections of another directory": func(t *testing.T) string {
			dir, _ := made(t)
			copyDir(t, filepath.Join(other(t), "projections"), filepath.Join(dir, "projections"))
			return dir
		},
		"one projection of another directory": func(t *testing.T) string {
			dir, _ := made(t)
			copyDir(t, filepath.Join(other(t), "projections", "segment"), filepath.Join(dir, "projections", "segment"))
			return dir
		},
		"projections of a copy that went its own way": func(t *testing.T) string {
			dir, older := made(t)
			fork := filepath.Join(t.TempDir(), "fork")
			copyDir(t, older, filepath.Join(fork, "log"))
			openedLocal(t, fork, func(n *node.Node) {
				if _, err := n.Append(t.Context(), events(numbered("fork", 4)...)); err != nil {
					t.Fatal(err)
				}
				shown(t, n)
			})
			copyDir(t, filepath.Join(fork, "projections"), filepath.Join(dir, "projections"))
			return dir
		},
		"all of the directory is an older one": func(t *testing.T) string {
			dir, _ := made(t)
			older := filepath.Join(t.TempDir(), "whole")
			copyDir(t, dir, older)
			openedLocal(t, dir, func(n *node.Node) {
				if _, err := n.Append(t.Context(), events(numbered("later", 2)...)); err != nil {
					t.Fatal(err)
				}
				shown(t, n)
			})
			copyDir(t, older, dir)
			return dir
		},
	}
	ins := map[string]func(t *testing.T, dir string){
		"a question": func(t *testing.T, dir string) {
			openedLocal(t, dir, func(n *node.Node) { same(t, n, n) })
		},
		"verify": func(t *testing.T, dir string) {
			openedLocal(t, dir, func(n *node.Node) { verifiedBy(t, n.Verify) })
		},
		"rebuild": func(t *testing.T, dir string) {
			openedLocal(t, dir, func(n *node.Node) {
				if _, err := n.Rebuild(t.Context(), api.RebuildRequest{}, nil); err != nil {
					t.Fatal(err)
				}
			})
		},
		"append, and then a question": func(t *testing.T, dir string) {
			record(t, dir, "echo appended")
		},
		"a server": func(t *testing.T, dir string) {
			r := start(t, config(dir))
			r.append(t, "echo served")
			ends, err := r.Log().Ends(t.Context(), "commands")
			if err != nil {
				t.Fatal(err)
			}
			r.waitFor(t, ends)
			same(t, r.Node, r.Client)
			verifiedBy(t, r.Client.Verify)
			r.stop()
		},
	}
	for way, change := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			changed := change(t)
			for in, look := range ins {
				t.Run(in, func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "d")
					copyDir(t, changed, dir)
					look(t, dir)
					openedLocal(t, dir, func(n *node.Node) {
						same(t, n, n)
						verifiedBy(t, n.Verify)
					})
				})
			}
		})
	}
}

// same checks that answers contain what the log holds, and no more.
func same(t *testing.T, n *node.Node, ask question.Answerer) {
	t.Helper()
	if want, got := logged(t, n), shown(t, ask); !slices.Equal(got, want) {
		t.Errorf("answers know\n%q, the log holds\n%q", got, want)
	}
}

func verifiedBy(t *testing.T, verify func(context.Context, api.VerifyRequest, func(api.Progress)) (api.VerifyReport, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if v, err := verify(ctx, api.VerifyRequest{}, nil); err != nil || !v.OK {
		t.Errorf("verify: %+v %v", v, err)
	}
}

// TestStateOfAnOlderVersionIsKept checks that state without a record of its log is accepted, and
// not rebuilt, if the log is long enough.
func TestStateOfAnOlderVersionIsKept(t *testing.T) {
	dir := t.TempDir()
	openedLocal(t, dir, func(n *node.Node) {
		if _, err := n.Append(t.Context(), events(numbered("first", 3)...)); err != nil {
			t.Fatal(err)
		}
		shown(t, n)
	})
	notes, err := filepath.Glob(filepath.Join(dir, "projections", "*", "gen-*", "LOG"))
	if err != nil || len(notes) == 0 {
		t.Fatalf("%q %v", notes, err)
	}
	for _, note := range notes {
		if err := os.Remove(note); err != nil {
			t.Fatal(err)
		}
	}
	openedLocal(t, dir, func(n *node.Node) { same(t, n, n) })
	again, err := filepath.Glob(filepath.Join(dir, "projections", "*", "gen-*", "LOG"))
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range notes {
		if !slices.Contains(again, note) {
			t.Errorf("%s is not there any more, of %q", note, again)
		}
	}
}

// TestStateOfAnotherKafka checks that an external Kafka that was set up again at the same address
// counts as another log.
func TestStateOfAnotherKafka(t *testing.T) {
	dir := t.TempDir()
	roles := []string{node.RoleIngest, node.RoleProcess, node.RoleProject, node.RoleServe}
	for round, n := range []int{5, 3, 9} {
		c, err := kfake.NewCluster(kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time it is recognised
			cfg := config(dir)
			cfg.Roles, cfg.Kafka = roles, node.KafkaConfig{Brokers: c.ListenAddrs(), Partitions: 2}
			r := start(t, cfg)
			r.append(t, numbered(fmt.Sprintf("round%d", round), n)...)
			ends, err := r.Log().Ends(t.Context(), "commands")
			if err != nil {
				t.Fatal(err)
			}
			r.waitFor(t, ends)
			same(t, r.Node, r.Client)
			verifiedBy(t, r.Client.Verify)
			r.stop()
		}
		c.Close()
	}
}
