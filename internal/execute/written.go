package execute

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/processors/command"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxHashed is how many bytes of written files are hashed for one command. What exceeds it is recorded
// with its size alone.
const maxHashed = 64 << 20

// maxWritten is the limit of files in events.proto.
const maxWritten = 1000

// outputs are the paths that a command names as written, and whether each is there before it runs.
type outputs map[string]bool

// outputsOf finds the outputs of a command by its syntax alone, before it runs.
func outputsOf(text, cwd string) outputs {
	var none *command.Memory
	o := outputs{}
	for _, r := range none.Understand(text, cwd).GetResources() {
		writes := r.GetAccess() == recountv1.Access_ACCESS_WRITE || r.GetAccess() == recountv1.Access_ACCESS_READ_WRITE
		if !writes || r.GetKind() != recountv1.ResourceKind_RESOURCE_KIND_PATH || !filepath.IsAbs(r.GetName()) || len(r.GetName()) > 4096 || !utf8.ValidString(r.GetName()) || strings.ContainsAny(r.GetName(), "*?[") || len(o) == maxWritten {
			continue
		}
		_, err := os.Lstat(r.GetName())
		o[r.GetName()] = err == nil
	}
	return o
}

// written returns what the command left of them: regular files with the hashes of their contents, and
// those that are gone, in order of their paths.
func (o outputs) written() []*recountv1.WrittenFile {
	var all []*recountv1.WrittenFile
	left := int64(maxHashed)
	for path, there := range o {
		info, err := os.Lstat(path)
		switch {
		case err != nil && there && os.IsNotExist(err):
			all = append(all, &recountv1.WrittenFile{Path: path, Removed: true})
		case err == nil && info.Mode().IsRegular():
			all = append(all, &recountv1.WrittenFile{Path: path, Size: info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b *recountv1.WrittenFile) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range all {
		if f.Removed || f.Size > left {
			continue
		}
		left -= f.Size
		f.Sha256 = recording.HashOf(f.Path, f.Size)
	}
	return all
}

// changes returns what a look found as it is recorded, nil for nil and where a name is no text.
func changes(c *recording.Changes) *recountv1.Changes {
	if c == nil || !utf8.ValidString(c.Below) || slices.ContainsFunc(c.Directories, func(dir string) bool { return !utf8.ValidString(dir) }) ||
		slices.ContainsFunc(c.Files, func(f recording.WrittenFile) bool { return !utf8.ValidString(f.Path) }) {
		return nil
	}
	out := &recountv1.Changes{Below: c.Below, LookedAt: timestamppb.New(c.LookedAt), Directories: c.Directories}
	for _, f := range c.Files {
		out.Files = append(out.Files, &recountv1.WrittenFile{Path: f.Path, Sha256: f.SHA256, Size: f.Size, Mode: f.Mode})
	}
	return out
}
