package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func serve(t *testing.T) (*http.ServeMux, *Handler) {
	t.Helper()
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	h.Register(mux)
	return mux, h
}

func get(mux http.Handler, target string, headers ...string) *http.Response {
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEveryViewAnswersThePage requests each view, also with what a view's path may hold.
func TestEveryViewAnswersThePage(t *testing.T) {
	mux, _ := serve(t)
	want := bodyOf(t, get(mux, "/"))
	if !strings.Contains(want, `<script type="module" src="/assets/`) {
		t.Fatalf("the page loads no module:\n%s", want)
	}
	for _, view := range Views {
		for _, target := range []string{"/" + view, "/" + view + "/", "/" + view + "/recount.commands/2/9", "/" + view + "/a%2Fb?x=1"} {
			r := get(mux, target)
			if r.StatusCode != 200 || bodyOf(t, r) != want {
				t.Errorf("GET %s: %d and another page", target, r.StatusCode)
			}
		}
	}
	if r := get(mux, "/nothing"); r.StatusCode != 404 {
		t.Errorf("GET /nothing: %d", r.StatusCode)
	}
}

// TestHeaders checks what keeps a browser from running or sending anything else, for the page, an
// asset and an asset that is not there.
func TestHeaders(t *testing.T) {
	mux, h := serve(t)
	for target, want := range map[string]struct {
		status         int
		media, caching string
	}{
		"/":                                {200, "text/html; charset=utf-8", "no-cache"},
		"/assets/" + h.hash + "/app.js":    {200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/" + h.hash + "/style.css": {200, "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/" + h.hash + "/none.js":   {404, "text/plain; charset=utf-8", ""},
		"/assets/0123456789abcdef/app.js":  {404, "text/plain; charset=utf-8", ""},
	} {
		r := get(mux, target)
		if r.StatusCode != want.status || r.Header.Get("Content-Type") != want.media || r.Header.Get("Cache-Control") != want.caching {
			t.Errorf("GET %s: %d %q %q, want %+v", target, r.StatusCode, r.Header.Get("Content-Type"), r.Header.Get("Cache-Control"), want)
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != value {
				t.Errorf("GET %s: %s: %q, want %q", target, name, got, value)
			}
		}
	}
}

// TestEncodings checks that each asset is the same with and without gzip, under tags that differ, and
// that a browser that has it gets no body.
func TestEncodings(t *testing.T) {
	mux, h := serve(t)
	total := 0
	for name, f := range h.files {
		target := "/assets/" + h.hash + "/" + name
		plain, zipped := get(mux, target), get(mux, target, "Accept-Encoding", "br, gzip;q=0.5")
		body := bodyOf(t, plain)
		if body != string(f.plain) || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: not its bytes", name)
		}
		got := bodyOf(t, zipped)
		total += len(got)
		if zipped.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(strings.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if un, err := io.ReadAll(z); err != nil || string(un) != body {
				t.Errorf("%s: compressed it is something else: %v", name, err)
			}
			if zipped.Header.Get("ETag") == plain.Header.Get("ETag") {
				t.Errorf("%s: one tag for two encodings", name)
			}
		}
		if zipped.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary %q", name, zipped.Header.Get("Vary"))
		}
		if r := get(mux, target, "If-None-Match", plain.Header.Get("ETag")); r.StatusCode != http.StatusNotModified || bodyOf(t, r) != "" {
			t.Errorf("%s: with its tag: %d", name, r.StatusCode)
		}
		if r := get(mux, target, "Accept-Encoding", "gzip;q=0, *;q=0"); r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: gzip for who refuses it", name)
		}
	}
	if total > 400_000 {
		t.Errorf("%d bytes compressed: the page may have 400,000", total)
	}
}

var (
	imports = regexp.MustCompile(`(?m)(?:(?:^|[;}])(?:import|export)\b[^"'();]*\bfrom\s*|^import\s*|\bimport\s*\(\s*)"([^"]+)"`)
	links   = regexp.MustCompile(`(?:src|href)="\{\{assets\}\}/([^"]+)"`)
	foreign = regexp.MustCompile(`(?i)(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+`)
	inline  = regexp.MustCompile(`(?i)<script(?:>| [^>]*>)[^<]|<style|\son[a-z]+=|javascript:|\sstyle="`)
)

// TestAssetsReferToEachOther checks that whatever an asset loads is an asset, and that none names
// another host.
func TestAssetsReferToEachOther(t *testing.T) {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = fs.WalkDir(assets, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(assets, name)
		if err != nil {
			return err
		}
		var loads []string
		switch path.Ext(name) {
		case ".js":
			for _, m := range imports.FindAllSubmatch(b, -1) {
				if !bytes.HasPrefix(m[1], []byte(".")) {
					t.Errorf("%s imports %q: a browser finds only relative modules", name, m[1])
				}
				loads = append(loads, path.Join(path.Dir(name), string(m[1])))
			}
		case ".html":
			for _, m := range links.FindAllSubmatch(b, -1) {
				loads = append(loads, string(m[1]))
			}
			if m := inline.Find(b); m != nil {
				t.Errorf("%s has a script or style in it, which the policy forbids: %s", name, m)
			}
		}
		for _, l := range loads {
			seen++
			if _, err := fs.Stat(assets, l); err != nil {
				t.Errorf("%s loads %s, which is not there", name, l)
			}
		}
		if !strings.HasPrefix(path.Base(name), "LICENSE") {
			for _, m := range foreign.FindAll(b, -1) {
				if !strings.Contains(string(m), "www.w3.org") { // namespaces of SVG, which nothing loads
					t.Errorf("%s names another host: %s", name, m)
				}
			}
		}
		return nil
	})
	if err != nil || seen < 20 {
		t.Errorf("%d references: %v", seen, err)
	}
}

// TestVendor checks that each library is byte for byte what VENDOR says, with its licence, and that
// there is nothing else.
func TestVendor(t *testing.T) {
	list, err := fs.ReadFile(embedded, "assets/vendor/VENDOR")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"VENDOR": true}
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if len(f) != 5 {
			t.Fatalf("VENDOR: %q: want package, version, licence, file, SHA-256", line)
		}
		b, err := fs.ReadFile(embedded, "assets/vendor/"+f[3])
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != f[4] {
			t.Errorf("%s is not what VENDOR says: run scripts/vendor-web.sh", f[3])
		}
		licence := "LICENSE-" + path.Base(f[0]) + ".txt"
		listed[f[3]], listed[licence] = true, true
		if _, err := fs.Stat(embedded, "assets/vendor/"+licence); err != nil {
			t.Errorf("%s has no licence here: %v", f[0], err)
		}
	}
	files, err := fs.ReadDir(embedded, "assets/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !listed[f.Name()] {
			t.Errorf("%s is not in VENDOR", f.Name())
		}
	}
}

// TestAcceptsGzip has the cases of RFC 9110, 12.5.3.
func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip": true, "gzip;q=0": false, "gzip; q=0.1": true, "*": true, "*;q=0": false,
		"*, gzip;q=0": false, "gzip;q=0, *": false, "identity": false, "gzippy": false, "gzip;q=x": true,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}
