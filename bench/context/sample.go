package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// repositories.tsv has the half, the name at GitHub and the newest commit of each repository,
// written down before any result was seen. samples.tsv has what `-generate` found in them: the
// repository, the task, the commit, its first parent, the given file and the files to be found.
// Titles and bodies belong to the projects and are read from the mirrors.
var (
	//go:embed testdata/repositories.tsv
	repositoriesFile string
	//go:embed testdata/samples.tsv
	samplesFile string
)

const (
	code2test   = "code2test"
	edit2ripple = "edit2ripple"
)

// halves are the sets of repositories: two to choose with, and two to look at last.
var halves = []string{"dev", "more", "held", "third"}

type repository struct{ half, name, head string }

// sample is a change that was made, and the question that its author had before.
type sample struct {
	half, repo, task string
	change, base     string // commits
	given            string
	gold             []string
	title, body      string
}

func (s sample) id() string { return fmt.Sprintf("%s %s %.10s", s.repo, s.task, s.change) }

func repositories() (all []repository, err error) {
	for lines := bufio.NewScanner(strings.NewReader(repositoriesFile)); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("testdata/repositories.tsv: want half, name and commit: %q", lines.Text())
		}
		all = append(all, repository{f[0], f[1], f[2]})
	}
	return all, nil
}

// samples reads the samples of a half ("" for both), with their texts.
func samples(ctx context.Context, mirrors, half string) (all []sample, err error) {
	repos, err := repositories()
	if err != nil {
		return nil, err
	}
	halfOf := map[string]string{}
	for _, r := range repos {
		halfOf[r.name] = r.half
	}
	for lines := bufio.NewScanner(strings.NewReader(samplesFile)); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) < 6 {
			return nil, fmt.Errorf("testdata/samples.tsv: want repository, task, commit, base, given file and files to find: %q", lines.Text())
		}
		s := sample{half: halfOf[f[0]], repo: f[0], task: f[1], change: f[2], base: f[3], given: f[4], gold: f[5:]}
		if half != "" && s.half != half {
			continue
		}
		message, err := mirrorOf(mirrors, s.repo).out(ctx, "log", "-1", "--format=%B", s.change)
		if err != nil {
			return nil, fmt.Errorf("%w (fetch github:%s first)", err, s.repo)
		}
		s.title, s.body = described(message)
		all = append(all, s)
	}
	return all, nil
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	trailer     = regexp.MustCompile(`(?i)^\s*(signed-off-by|co-authored-by|reviewed-by|acked-by|change-id|\(?cherry picked from)\b`)
	number      = regexp.MustCompile(`\s*\(#\d+\)\s*$`)
	merged      = regexp.MustCompile(`^Merge pull request #\d+ from \S+$`)
	word        = regexp.MustCompile(`[A-Za-z0-9_]+`)
)

// described returns the title and the body of a change from its commit's message. The title of a
// merged pull request is the first line of the body.
func described(message string) (title, body string) {
	message = htmlComment.ReplaceAllString(strings.ReplaceAll(message, "\r\n", "\n"), "")
	var kept []string
	for line := range strings.SplitSeq(message, "\n") {
		if trimmed := strings.TrimSpace(line); merged.MatchString(trimmed) || trailer.MatchString(line) || len(kept) == 0 && trimmed == "" {
			continue
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 {
		return "", ""
	}
	body = strings.TrimSpace(strings.Join(kept[1:], "\n"))
	return number.ReplaceAllString(strings.TrimSpace(kept[0]), ""), body[:min(len(body), 1800)]
}

// leaks reports whether a text names one of the paths or its last part.
func leaks(text string, paths []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(paths, func(p string) bool {
		return strings.Contains(text, strings.ToLower(p[strings.LastIndexByte(p, '/')+1:]))
	})
}
