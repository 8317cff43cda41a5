// Command generate writes ../std.zip from the Go installation that runs it. `go generate` in the
// parent directory runs it.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/go/gcexportdata"
)

// goos and goarch are the platform of the types. cgo does not change what packages export, and without it no C compiler
// is needed here.
const goos, goarch = "linux", "amd64"

type listed struct {
	ImportPath, Export string
}

func main() {
	log.SetFlags(0)
	out, err := bundle()
	if err == nil {
		err = os.WriteFile("std.zip", out, 0o644)
	}
	if err != nil {
		log.Fatalf("generate: %v", err)
	}
}

func bundle() ([]byte, error) {
	exports, err := list()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor(zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1)))
	if err := w.SetComment(fmt.Sprintf("%s %s/%s", runtime.Version(), goos, goarch)); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, p := range exports {
		files[p.ImportPath] = p.Export
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for _, p := range exports {
		if p.ImportPath == "unsafe" || slices.ContainsFunc(strings.Split(p.ImportPath, "/"), func(s string) bool { return s == "internal" || s == "vendor" }) {
			continue
		}
		pkg, err := from.Import(p.ImportPath)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		// There is no FileSet, because positions in this installation are not wanted.
		var data bytes.Buffer
		if err := gcexportdata.Write(&data, nil, pkg); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		entry, err := w.CreateHeader(&zip.FileHeader{Name: p.ImportPath, Method: zstd.ZipMethodWinZip})
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(data.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// list returns the standard library's packages, sorted by path, with their export files.
func list() ([]listed, error) {
	cmd := exec.Command("go", "list", "-export", "-trimpath", "-json=ImportPath,Export", "std")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=")
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}
