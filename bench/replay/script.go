package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// scripts runs the bash script of each narrative as another user in another home, and compares the
// trees: each file's content, with the old home's path replaced by the new one.
func scripts() error {
	same, n := 0, 0
	return each(func(r *recorded) error {
		n++
		if r.n.goal != "" {
			// Only what a goal needs is made, so the trees differ.
			n--
			return nil
		}
		home, env, err := place(r.n, r.root, "bob")
		if err != nil {
			return err
		}
		text, err := r.ask(home, "bash", "--home", home)
		if err != nil {
			return err
		}
		secrets, err := r.secrets()
		if err != nil {
			return err
		}
		c := exec.Command("bash", "-s")
		c.Dir, c.Env, c.Stdin = home, append(append(env, secrets...), "RECOUNT_YES=1"), strings.NewReader(string(text))
		if out, err := c.CombinedOutput(); err != nil {
			fmt.Printf("  %s: the script: %v\n%s\n", r.n.name, err, out)
			if *verbose {
				fmt.Printf("%s\n", text)
			}
			return nil
		}
		a, err := tree(r.home, "")
		if err != nil {
			return err
		}
		b, err := tree(home, r.home)
		if err != nil {
			return err
		}
		equal := true
		for name, sum := range a {
			if b[name] != sum {
				equal = false
				fmt.Printf("  %s: %s is %s, and was %s\n", r.n.name, name, or(b[name]), sum)
			}
		}
		for name := range b {
			if _, ok := a[name]; !ok {
				equal = false
				fmt.Printf("  %s: %s is there, and was not\n", r.n.name, name)
			}
		}
		if equal {
			same++
		}
		return nil
	}, func() {
		fmt.Printf("%d of %d narratives without a goal end in the same tree by their bash script\n", same, n)
	})
}

func or(s string) string {
	if s == "" {
		return "not there"
	}
	return s
}

// tree returns the hash of each file below a home, with paths of that home replaced by those of
// another one. Of a repository its commits count, since its index has times.
func tree(home, as string) (map[string]string, error) { return treeOf(home, home, as) }

// treeOf does so for a part of a home.
func treeOf(dir, home, as string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if logs.MatchString(rel) {
			return nil
		}
		if d.IsDir() && (d.Name() == ".git" || strings.HasSuffix(d.Name(), ".git")) {
			if all[rel], err = commits(p); err != nil {
				return fmt.Errorf("git log in %s: %w", rel, err)
			}
			return filepath.SkipDir
		}
		switch {
		case d.IsDir():
			all[rel] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			all[rel] = "link to " + strings.ReplaceAll(to, home, or2(as, home))
		default:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text := strings.ReplaceAll(string(comparable(rel, b)), home, or2(as, home))
			if strings.HasSuffix(rel, ".pid") || strings.HasPrefix(rel, ".local/state") {
				text = ""
			}
			all[rel] = fmt.Sprintf("%x %o", sha256.Sum256([]byte(text)), info.Mode().Perm())
		}
		return nil
	})
	return all, err
}

// commits describes the commits of a repository by their trees, subjects and parents' trees, and not by
// their times, which also decide in what order git lists them.
func commits(dir string) (string, error) {
	out, err := exec.Command("git", "--git-dir", dir, "log", "--all", "--format=%H %T %s%x00%P%x00", "--no-decorate").Output()
	if err != nil {
		return "", err
	}
	fields := strings.Split(string(out), "\x00")
	text := map[string]string{} // by commit
	for i := 0; i+1 < len(fields); i += 2 {
		hash, rest, _ := strings.Cut(strings.TrimSpace(fields[i]), " ")
		text[hash] = rest
	}
	var lines []string
	for i := 0; i+1 < len(fields); i += 2 {
		hash, _, _ := strings.Cut(strings.TrimSpace(fields[i]), " ")
		line := text[hash]
		for _, parent := range strings.Fields(fields[i+1]) {
			line += " < " + text[parent]
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return fmt.Sprintf("%d commits %s", len(lines), strings.Join(lines, "\n")), nil
}

func or2(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
