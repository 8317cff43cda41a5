package execute

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
		if !writes || r.GetKind() != recountv1.ResourceKind_RESOURCE_KIND_PATH || !filepath.IsAbs(r.GetName()) || len(r.GetName()) > 4096 || strings.ContainsAny(r.GetName(), "*?[") || len(o) == maxWritten {
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
		f.Sha256 = hashOf(f.Path, f.Size)
	}
	return all
}

// hashOf returns the SHA-256 of a regular file, nil if it cannot be read or does not have the size.
func hashOf(path string, size int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeType != 0 {
		return nil
	}
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil || n != size {
		return nil
	}
	return h.Sum(nil)
}
