package stdlib

import (
	"go/types"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestPackagesShareTheirTypes(t *testing.T) {
	im := New()
	http, err := im.Import("net/http")
	if err != nil {
		t.Fatal(err)
	}
	io, err := im.Import("io")
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := types.LookupFieldOrMethod(http.Scope().Lookup("Request").Type(), true, http, "Body")
	if want := io.Scope().Lookup("ReadCloser").Type(); !types.Identical(body.Type(), want) {
		t.Errorf("Request.Body is %v, want the io.ReadCloser of Import(%q)", body.Type(), "io")
	}
	if !http.Complete() || !io.Complete() {
		t.Error("a package is not complete")
	}
}

// TestWalkWhileOthersImport walks what a package imports, as the checker does to word an error, while another goroutine
// imports packages that it names. The race detector judges it.
func TestWalkWhileOthersImport(t *testing.T) {
	im := New()
	server, err := im.Import("net/http")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for _, path := range []string{"io", "net", "net/url", "crypto/tls", "mime/multipart", "bufio", "context", "time"} {
			if _, err := im.Import(path); err != nil {
				t.Error(err)
			}
		}
	})
	var walk func(*types.Package, map[*types.Package]bool)
	walk = func(p *types.Package, seen map[*types.Package]bool) {
		for _, imported := range p.Imports() {
			if !seen[imported] {
				seen[imported] = true
				walk(imported, seen)
			}
		}
	}
	for range 100 {
		walk(server, map[*types.Package]bool{})
	}
	done.Wait()
}

func TestEveryPackageDecodes(t *testing.T) {
	im := New()
	for path := range im.entries {
		if _, err := im.Import(path); err != nil {
			t.Error(err)
		}
	}
	if len(im.entries) < 150 {
		t.Errorf("%d packages, want all of the standard library", len(im.entries))
	}
}

func TestWhatIsNotOfTheStandardLibraryIsRefused(t *testing.T) {
	im := New()
	for _, path := range []string{"example.com/x", "internal/abi", "C", ""} {
		if _, err := im.Import(path); err == nil || im.Has(path) {
			t.Errorf("Import(%q) = %v", path, err)
		}
	}
}

func TestVersionIsOfTheModule(t *testing.T) {
	im := New()
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(mod), "\ngo ")
	minor := strings.Join(strings.SplitN(rest, ".", 3)[:2], ".")
	if !strings.HasPrefix(im.version, "go"+minor+".") {
		t.Errorf("std.zip is of %s, go.mod says %s: run go generate here", im.version, minor)
	}
}
