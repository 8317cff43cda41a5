package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// perRepository is the number of samples of a task that a repository may have; the newest are
// taken, of bases that at most `back` commits are not ancestors of: so many commits have to be folded
// into graphs.
const (
	perRepository = 12
	back          = 500
)

// purpose is a word by which a description says what behaviour changes.
var purpose = regexp.MustCompile(`(?i)\b(bug|fix(es|ed)?|fail(s|ed|ing|ure)?|regression|assert|errors?|exceptions?|panics?|behaviou?r|supports?|compat(ible|ibility)?|validat(e|es|ion)|performance|race|runtime|api|config(uration)?|cache|tests?|coverage|add(s|ed)?|allow(s|ed)?|avoid(s|ed)?|handle(s|d)?|prevent(s|ed)?|correct(ly|s)?|improve(s|d)?)\b`)

// generate writes the samples of every repository: the rules of Agent Retrieval Bench on commits
// along first parents, so that a squashed or merged pull request is one change.
func generate(ctx context.Context, o options, out, progress io.Writer) error {
	repos, err := repositories()
	if err != nil {
		return err
	}
	for _, r := range repos {
		if !wanted(o.repos, r.name) || o.half != "" && o.half != r.half {
			continue
		}
		m := mirrorOf(o.mirrors, r.name)
		if !m.has(ctx, r.head) {
			return fmt.Errorf("%s has no commit %s: fetch github:%s first", m.dir, r.head, r.name)
		}
		found, err := generateOf(ctx, m, r)
		if err != nil {
			return err
		}
		n := map[string]int{}
		for _, s := range found {
			n[s.task]++
			fmt.Fprintln(out, strings.Join(append([]string{s.repo, s.task, s.change, s.base, s.given}, s.gold...), "\t"))
		}
		fmt.Fprintf(progress, "%s: %d code2test, %d edit2ripple\n", r.name, n[code2test], n[edit2ripple])
	}
	return nil
}

func generateOf(ctx context.Context, m mirror, r repository) (all []sample, err error) {
	out, err := m.out(ctx, "log", "--first-parent", "--diff-merges=first-parent", "--raw", "--no-renames", "--no-abbrev", "-n", strconv.Itoa(back), "--format=%x00%H%x01%P%x01%B%x01", r.head)
	if err != nil {
		return nil, err
	}
	n := map[string]int{}
	for entry := range strings.SplitSeq(out, "\x00") {
		f := strings.Split(entry, "\x01")
		if len(f) != 4 || f[1] == "" {
			continue // the text before the first, or a commit without a parent
		}
		s := sample{repo: r.name, change: f[0], base: strings.Fields(f[1])[0]}
		s.title, s.body = described(f[2])
		files := changedFiles(f[3])
		if text := s.title + "\n" + s.body; len(word.FindAllString(text, -1)) < 8 || !purpose.MatchString(text) || strings.HasPrefix(s.title, "Merge ") || strings.HasPrefix(s.title, "Revert ") || strings.Contains(text, "diff --git") {
			continue
		}
		source := only(files, func(f changedFile) bool { return f.status == 'M' && isSource(f.path) && !isTest(f.path) })
		if len(source) == 0 || len(files) > 20 || len(files) < 2 || n[code2test] == perRepository && n[edit2ripple] == perRepository {
			continue
		}
		if s.given, err = m.mostChanged(ctx, s, pathsOf(source)); err != nil {
			continue // the mirror lacks the content of a large file
		}
		if behind, err := m.out(ctx, "rev-list", "--count", s.base+".."+r.head); err != nil {
			return nil, err
		} else if n, _ := strconv.Atoi(strings.TrimSpace(behind)); n > back {
			break
		}
		for _, make := range []func(sample, []changedFile) (sample, bool){testsOf, rippleOf} {
			if s, ok := make(s, files); ok && n[s.task] < perRepository {
				n[s.task]++
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b sample) int { return cmp.Compare(a.task, b.task) })
	return all, nil
}

// changedFile is a file of a commit's difference; its status is that of `git log --raw`.
type changedFile struct {
	path   string
	status byte
}

func changedFiles(text string) (all []changedFile) {
	for line := range strings.SplitSeq(text, "\n") {
		if head, path, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(head, ":") {
			all = append(all, changedFile{path, head[len(head)-1]})
		}
	}
	return all
}

// mostChanged returns the path with the most changed lines, the first of equal ones.
func (m mirror) mostChanged(ctx context.Context, s sample, paths []string) (most string, err error) {
	out, err := m.out(ctx, append([]string{"diff", "--no-renames", "--numstat", s.base, s.change, "--"}, paths...)...)
	if err != nil {
		return "", err
	}
	highest := -1
	for line := range strings.SplitSeq(out, "\n") {
		if f := strings.Split(line, "\t"); len(f) == 3 {
			added, _ := strconv.Atoi(f[0])
			removed, _ := strconv.Atoi(f[1])
			if added+removed > highest {
				highest, most = added+removed, f[2]
			}
		}
	}
	return most, nil
}

func only(files []changedFile, keep func(changedFile) bool) (kept []changedFile) {
	for _, f := range files {
		if keep(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

func pathsOf(files []changedFile) (all []string) {
	for _, f := range files {
		all = append(all, f.path)
	}
	return all
}

// testsOf makes a sample of code2test: at most 20 files changed, of them one to three tests that
// existed before. The given file is the changed source file with the most changed lines.
func testsOf(s sample, files []changedFile) (sample, bool) {
	s.task = code2test
	s.gold = pathsOf(only(files, func(f changedFile) bool { return f.status == 'M' && isSource(f.path) && isTest(f.path) }))
	return s, len(s.gold) > 0 && len(s.gold) <= 3 && !leaks(s.title+"\n"+s.body, s.gold)
}

// rippleOf makes a sample of edit2ripple: two to eight files changed, and besides the given one,
// which is no test, at least one that is no test either.
func rippleOf(s sample, files []changedFile) (sample, bool) {
	s.task = edit2ripple
	s.gold = pathsOf(only(files, func(f changedFile) bool { return f.status == 'M' && f.path != s.given && isWorthFinding(f.path) }))
	return s, len(files) <= 8 && slices.ContainsFunc(s.gold, func(p string) bool { return !isTest(p) }) && !leaks(s.title+"\n"+s.body, s.gold)
}
