package git

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Meant returns the commits that revisions mean in the clone that a directory is in, by one call of git. It
// returns nil if one of them means nothing there, and, without a call, if the directory is in no clone.
func Meant(ctx context.Context, dir string, revs ...string) []string {
	if !inClone(dir) {
		return nil
	}
	args := []string{"rev-parse"}
	for _, rev := range revs {
		if strings.HasPrefix(rev, "-") {
			return nil
		}
		args = append(args, rev+"^{commit}")
	}
	out, err := new(Repo).output(ctx, dir, args...)
	commits := strings.Fields(string(out))
	if err != nil || len(commits) != len(revs) {
		return nil
	}
	return commits
}

// maxApart is how many commits Apart counts at most.
const maxApart = 1000

// Apart returns how many commits HEAD of the clone that a directory is in has and another commit of it has
// not, and vice versa, and when the newest that HEAD alone has was made.
func Apart(ctx context.Context, dir, commit string) (behind, ahead int, newest time.Time, err error) {
	out, err := new(Repo).output(ctx, dir, "log", "--left-right", "--format=%m%ct", "--max-count="+strconv.Itoa(maxApart), commit+"...HEAD", "--")
	for line := range strings.FieldsSeq(string(out)) {
		if line[0] == '<' {
			ahead++
			continue
		}
		if behind++; behind == 1 {
			seconds, _ := strconv.ParseInt(line[1:], 10, 64)
			newest = time.Unix(seconds, 0)
		}
	}
	return behind, ahead, newest, err
}

// inClone reports whether a directory, or one above it, is the root of a working tree.
func inClone(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}
