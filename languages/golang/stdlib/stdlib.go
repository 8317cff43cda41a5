// Package stdlib gives the types of Go's standard library without a Go
// installation: what each package exports, as the compiler saw it, embedded in the
// binary and decoded when it is first imported.
//
// std.zip holds one entry a package, named by its import path, with the data of
// golang.org/x/tools/go/gcexportdata, compressed by Zstandard; the archive's comment
// is the Go version and platform. Positions are left out. It is rebuilt by
// `go generate` with the Go version that go.mod names.
package stdlib

//go:generate go run ./generate

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"go/token"
	"go/types"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/go/gcexportdata"
)

//go:embed std.zip
var archive []byte

// Hash is the hex SHA-256 of the embedded archive: with Version it says which
// standard library the types are of.
func Hash() string {
	sum := sha256.Sum256(archive)
	return hex.EncodeToString(sum[:])
}

// Importer imports packages of the standard library. Its packages share their
// types with each other and with no other Importer's. It is safe for concurrent
// use, and so are the packages that it gives.
type Importer struct {
	entries map[string]*zip.File
	version string

	mu      sync.Mutex // guards what follows
	fset    *token.FileSet
	done    map[string]*types.Package
	decoded map[string]*types.Package // gcexportdata's: with packages known in part
}

// New opens the embedded archive. It decodes nothing yet.
func New() *Importer {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(fmt.Sprintf("embedded standard library: %v", err)) // we were built with a broken one
	}
	r.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1)))
	im := &Importer{
		entries: make(map[string]*zip.File, len(r.File)), version: r.Comment,
		fset: token.NewFileSet(), done: map[string]*types.Package{}, decoded: map[string]*types.Package{},
	}
	for _, f := range r.File {
		im.entries[f.Name] = f
	}
	return im
}

// Version is the Go version and platform, such as "go1.26.8 linux/amd64".
func (im *Importer) Version() string { return im.version }

// Has reports whether a path is a package of the standard library that programs
// may import.
func (im *Importer) Has(path string) bool {
	_, ok := im.entries[path]
	return ok || path == "unsafe"
}

// Import gives a package, complete. It implements types.Importer.
func (im *Importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	if pkg, ok := im.done[path]; ok {
		return pkg, nil
	}
	f, ok := im.entries[path]
	if !ok {
		return nil, fmt.Errorf("%s: not in the standard library of %s", path, im.version)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("embedded standard library: %s: %w", path, err)
	}
	defer r.Close()
	pkg, err := gcexportdata.Read(r, im.fset, im.decoded, path)
	if err != nil {
		return nil, fmt.Errorf("embedded standard library: %s: %w", path, err)
	}
	im.done[path] = pkg
	return pkg, nil
}
