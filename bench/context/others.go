package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	packing "github.com/recountdb/recount/query/context"
)

const (
	// othersBack is how far below the newest commit the texts begin: the newest are what the fit was done on.
	othersBack = 200
	// othersOfEach is the number of texts of a repository: descriptions whole, and as many titles alone.
	othersOfEach = 2
	// othersWords is the least number of words of a text.
	othersWords = 7
)

// runOthers writes texts of the repositories of the background to standard output: descriptions of
// changes of source code, as somebody might ask about.
func runOthers(ctx context.Context, o options) error {
	background, err := backgrounds()
	if err != nil {
		return err
	}
	var texts []string
	for _, r := range background {
		m := mirrorOf(o.mirrors, r.name)
		out, err := m.out(ctx, "log", "--first-parent", "--diff-merges=first-parent", "--raw", "--no-renames", "--skip", fmt.Sprint(othersBack), "-n", fmt.Sprint(back), "--format=%x00%H%x01%B%x01", r.head)
		if err != nil {
			return err
		}
		whole, titles := 0, 0
		for entry := range strings.SplitSeq(out, "\x00") {
			f := strings.Split(entry, "\x01")
			if len(f) != 3 || len(only(changedFiles(f[2]), func(c changedFile) bool { return isSource(c.path) && !isTest(c.path) })) == 0 {
				continue
			}
			title, body := described(f[1])
			switch many := len(strings.Fields(title)) >= othersWords; {
			case strings.HasPrefix(title, "Merge ") || strings.HasPrefix(title, "Revert "):
			case body != "" && len(strings.Fields(title+" "+body)) >= othersWords && whole < othersOfEach:
				whole++
				texts = append(texts, title+"\n\n"+body)
			case many && titles < othersOfEach:
				titles++
				texts = append(texts, title)
			}
		}
	}
	_, err = os.Stdout.Write(packing.WriteOthers(texts))
	return err
}
