package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/golang"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/resolvetest"
)

// replay resolves the last commits of a git repository one after the other (first parents),
// and compares every nth with the same commit resolved from scratch.
func replay(dir string, commits, every int) error {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return string(out), nil
	}
	list, err := git("rev-list", "--first-parent", "--reverse", fmt.Sprintf("--max-count=%d", commits+1), "HEAD")
	if err != nil {
		return err
	}
	revs := strings.Fields(list)
	names, err := git("ls-tree", "-r", "-z", "--name-only", revs[0])
	if err != nil {
		return err
	}
	read := func(rev string, paths []string) (written map[string]string, gone []string, err error) {
		written = map[string]string{}
		for _, p := range paths {
			if !strings.HasSuffix(p, ".go") && path.Base(p) != "go.mod" {
				continue
			}
			content, err := git("show", rev+":"+p)
			if err != nil {
				gone = append(gone, p)
				continue
			}
			written[p] = content
		}
		return written, gone, nil
	}
	files, _, err := read(revs[0], strings.Split(strings.TrimSuffix(names, "\x00"), "\x00"))
	if err != nil {
		return err
	}
	tree := resolvetest.New(files, languages.Facts)
	r := golang.New()
	state := map[string]resolve.FileGraph{}
	advance := func(base *resolvetest.Tree) (int, error) {
		graphs, err := r.Resolve(context.Background(), tree, tree.Change(base))
		if err != nil {
			return 0, err
		}
		for f := range maps.Keys(state) {
			if _, there := tree.File(f); !there && !strings.HasSuffix(f, "/") {
				delete(state, f)
			}
		}
		for _, g := range graphs {
			if state[g.Path] = g; len(g.Nodes) == 0 {
				delete(state, g.Path)
			}
		}
		return len(graphs), nil
	}
	if _, err := advance(nil); err != nil {
		return err
	}
	var took []time.Duration
	returned := 0
	cpu := time.Duration(0)
	for i, rev := range revs[1:] {
		diff, err := git("diff-tree", "-r", "-z", "--no-renames", "--name-only", revs[i], rev)
		if err != nil {
			return err
		}
		written, gone, err := read(rev, strings.Split(strings.TrimSuffix(diff, "\x00"), "\x00"))
		if err != nil {
			return err
		}
		base := tree
		tree = tree.With(written, gone...)
		start, before := time.Now(), cpuTime()
		n, err := advance(base)
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		cpu += cpuTime() - before
		returned += n
		if (i+1)%every != 0 {
			continue
		}
		whole := golang.New()
		graphs, err := whole.Resolve(context.Background(), tree, resolve.Change{})
		if err != nil {
			return err
		}
		if len(graphs) != len(state) {
			return fmt.Errorf("%s: %d graphs commit by commit, %d whole", rev, len(state), len(graphs))
		}
		for _, g := range graphs {
			if !bytes.Equal(encode(g), encode(state[g.Path])) {
				return fmt.Errorf("%s: the graph of %s differs from the whole", rev, g.Path)
			}
		}
	}
	slices.Sort(took)
	at := func(q int) time.Duration { return took[len(took)*q/100].Round(time.Millisecond / 10) }
	fmt.Printf("%d commits, %v CPU each on average, p50 %v p90 %v max %v, %.1f graphs returned each; %d of them equal to the whole\n",
		len(took), (cpu / time.Duration(len(took))).Round(time.Millisecond/10), at(50), at(90), took[len(took)-1].Round(time.Millisecond/10), float64(returned)/float64(len(took)), len(took)/every)
	return nil
}

// encode returns an encoding of every field of a graph.
func encode(g resolve.FileGraph) []byte {
	var b []byte
	add := func(m proto.Message, parts ...string) {
		b = fmt.Appendf(b, "%q", parts)
		b, _ = proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	}
	for _, n := range g.Nodes {
		add(n.Node, string(n.Key))
	}
	for _, e := range g.Edges {
		add(e.Edge, string(e.From), string(e.To), e.Kind.String())
	}
	for _, e := range g.Externals {
		add(e.Edge, string(e.From), e.Kind.String(), e.Language, e.Package, e.Name)
	}
	for _, u := range g.Unresolved {
		add(u.At, string(u.From), u.Kind.String(), u.Path)
	}
	return b
}
