// Package web is the page: the assets that a browser loads, embedded in the program.
//
// There is no build step. The assets are ES modules and a style sheet as they are served, below
// assets; libraries are in assets/vendor (VENDOR says which, scripts/vendor-web.sh fetches them).
// The page holds no data: it asks the HTTP API, with what access the person who opened it has.
//
// Each asset is served below /assets/HASH/, where HASH is a hash of all assets together, and may be
// kept by a browser for ever. The modules import each other by relative paths and so stay within
// one hash. Every view of the page has a path of its own (Views); all of them answer index.html,
// and the router in app.js draws the view.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed assets
var embedded embed.FS

// Views lists the first elements of the paths that belong to the page, besides the empty one.
var Views = []string{"ask", "narrative", "why", "command", "code", "runtime", "agents", "log", "insights"}

// policy lets a page load scripts, styles and data from its own origin and nothing else, be framed
// by nobody, and send forms nowhere but there. A script within HTML does not run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Handler serves the page. It is safe for concurrent use.
type Handler struct {
	hash  string
	files map[string]*file // by path below assets
	index *file
}

// file is one asset in both encodings.
type file struct {
	media string
	plain []byte
	etag  string
	// zipped returns the bytes compressed, nil if that makes them no smaller.
	zipped func() []byte
}

// New returns the handler of the embedded assets.
func New() (*Handler, error) {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		return nil, err
	}
	return newHandler(assets)
}

func newHandler(assets fs.FS) (*Handler, error) {
	h := &Handler{files: map[string]*file{}}
	all := sha256.New()
	err := fs.WalkDir(assets, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(assets, name)
		if err != nil {
			return err
		}
		media := mime.TypeByExtension(path.Ext(name))
		switch path.Ext(name) { // the machine's table of types must not decide about these
		case ".js":
			media = "text/javascript; charset=utf-8"
		case ".css":
			media = "text/css; charset=utf-8"
		case ".html":
			media = "text/html; charset=utf-8"
		case ".svg":
			media = "image/svg+xml"
		case ".txt", "":
			media = "text/plain; charset=utf-8"
		}
		if media == "" {
			return fmt.Errorf("%s: no media type for this extension", name)
		}
		fmt.Fprintf(all, "%s %d\n", name, len(b))
		all.Write(b)
		h.files[name] = newFile(media, b)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("assets of the page: %w", err)
	}
	index := h.files["index.html"]
	if index == nil {
		return nil, fmt.Errorf("assets of the page: no index.html")
	}
	h.hash = hex.EncodeToString(all.Sum(nil)[:8])
	h.index = newFile(index.media, bytes.ReplaceAll(index.plain, []byte("{{assets}}"), []byte("/assets/"+h.hash)))
	delete(h.files, "index.html")
	return h, nil
}

func newFile(media string, b []byte) *file {
	sum := sha256.Sum256(b)
	return &file{media: media, plain: b, etag: hex.EncodeToString(sum[:8]), zipped: sync.OnceValue(func() []byte {
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression) // the level is valid
		_, _ = w.Write(b)                                     // a buffer takes everything
		_ = w.Close()
		if z.Len() >= len(b) {
			return nil
		}
		return z.Bytes()
	})}
}

// Register adds the page's paths to mux.
func (h *Handler) Register(mux *http.ServeMux) {
	index := func(w http.ResponseWriter, r *http.Request) { h.index.serve(w, r, "no-cache") }
	mux.HandleFunc("GET /{$}", index)
	for _, view := range Views {
		mux.HandleFunc("GET /"+view, index)
		mux.HandleFunc("GET /"+view+"/{rest...}", index)
	}
	mux.HandleFunc("GET /assets/{hash}/{name...}", func(w http.ResponseWriter, r *http.Request) {
		f := h.files[r.PathValue("name")]
		if f == nil || r.PathValue("hash") != h.hash {
			secure(w)
			http.Error(w, "no such asset: the page is of another version of the server; load it again", http.StatusNotFound)
			return
		}
		f.serve(w, r, "public, max-age=31536000, immutable")
	})
}

// secure sets the headers that keep a browser from doing more with an answer than show the page.
func secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, caching string) {
	secure(w)
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", caching)
	h.Set("Vary", "Accept-Encoding")
	body, tag := f.plain, f.etag
	if z := f.zipped(); z != nil && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		body, tag = z, tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reports whether an Accept-Encoding header names gzip (or *) with a quality above 0.
func acceptsGzip(header []string) bool {
	accepts := false
	for coding := range strings.SplitSeq(strings.Join(header, ","), ",") {
		name, params, _ := strings.Cut(coding, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "*" {
			continue
		}
		quality := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if parsed, err := strconv.ParseFloat(q, 64); err == nil {
				quality = parsed
			}
		}
		if name == "gzip" {
			return quality > 0
		}
		accepts = quality > 0
	}
	return accepts
}
