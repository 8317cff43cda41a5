// Package stdlib provides the types of Go's standard library without a Go installation: the
// compiler's export data of every package is embedded in the binary, and decoded when the package
// is first imported.
//
// std.zip has one entry per package, named by its import path, with the data of
// golang.org/x/tools/go/gcexportdata, compressed with Zstandard; the archive's comment is the Go
// version and platform. Positions are left out. `go generate` rebuilds it with the Go version that
// go.mod names.
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

// Hash returns the hex SHA-256 of the embedded archive, which identifies the version of the types.
func Hash() string {
	sum := sha256.Sum256(archive)
	return hex.EncodeToString(sum[:])
}

// Importer imports packages of the standard library. Its packages share their types with each
// other, but not with those of another Importer. It and its packages are safe for concurrent use.
type Importer struct {
	entries map[string]*zip.File
	version string // of Go, and the platform: "go1.26.8 linux/amd64"

	mu      sync.Mutex // guards the following fields
	fset    *token.FileSet
	done    map[string]*types.Package
	decoded map[string]*types.Package // gcexportdata's state, which includes incomplete packages
}

// New opens the embedded archive. It decodes nothing yet.
func New() *Importer {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(fmt.Sprintf("embedded standard library: %v", err)) // the binary was built with a broken archive
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

// Has reports whether a path is a package of the standard library that programs may import.
func (im *Importer) Has(path string) bool {
	_, ok := im.entries[path]
	return ok || path == "unsafe"
}

// Import returns a complete package, without its list of imports. It implements types.Importer.
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
	// The checker walks imports to word its errors. The next Import may write those of a package that is only named
	// so far, so none may be found on the way.
	pkg.SetImports(nil)
	im.done[path] = pkg
	return pkg, nil
}
