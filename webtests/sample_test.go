package webtests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sample returns the site that the tests of views share: the commands of the quickstart, a
// trajectory of an agent, a repository of two commits, and traces of a shop, one of which fails.
// Tests do not append to it.
func sample(t *testing.T) *site {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "recount-web-")
		if err != nil {
			t.Fatal(err)
		}
		s := &site{dir: dir}
		shared.dir = dir
		if err := s.start("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		shared.site = s
		commands, err := os.ReadFile("../internal/quickstart/sample/openhands.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		s.append(t, "commands", string(commands))
		s.run(t, "import", "agents", "--wait", "testdata/09.traj")
		s.run(t, "import", "git", "--history", "1", "--wait", repository(t))
		s.append(t, "commands", deploys)
		s.run(t, "import", "otlp", "--wait", traces(t))
	})
	if shared.site == nil {
		t.Fatal("the sample's server did not start")
	}
	return shared.site
}

// deploys is what a person ran around the traces.
const deploys = `{"command":"git commit -am 'cart: keep carts in redis'","cwd":"/src/shop","session":"ada-1","author":"ada","started_at":"2026-11-20T11:40:00Z","duration":"0.2s","exit_code":0}
{"command":"docker build -t shop/carts:1.4.2 .","cwd":"/src/shop","session":"ada-1","author":"ada","started_at":"2026-11-20T11:42:00Z","duration":"31s","exit_code":0}
{"command":"kubectl set image deployment/carts carts=shop/carts:1.4.2","cwd":"/src/shop","session":"ada-1","author":"ada","started_at":"2026-11-20T11:50:00Z","duration":"1.4s","exit_code":0}
{"command":"kubectl logs deploy/carts --since 10m","cwd":"/src/shop","session":"ada-1","author":"ada","started_at":"2026-11-20T12:03:00Z","duration":"0.8s","exit_code":0}
`

// The ids of the traces in traces.
const (
	goodTrace = "5b8efff798038103d269b633813fc60a"
	badTrace  = "5b8efff798038103d269b633813fc60b"
)

// traces writes two traces of a shop as OTLP, in which web calls carts: the second fails.
func traces(t *testing.T) string {
	t.Helper()
	const at = 1795867200_000000000 // 2026-11-28T12:00:00Z, less a week below
	start := int64(at - 8*86400_000000000)
	span := func(trace, id, parent, name string, kind int, offset, took int64, status string) string {
		return fmt.Sprintf(`{"traceId":%q,"spanId":%q,"parentSpanId":%q,"name":%q,"kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.route","value":{"stringValue":"/carts/{id}"}},{"key":"http.response.status_code","value":{"intValue":"%s"}}],"status":{"code":%d}}`,
			trace, id, parent, name, kind, start+offset, start+offset+took, status, map[bool]int{true: 2, false: 1}[status == "503"])
	}
	service := func(name, version string, spans ...string) string {
		return fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}},{"key":"service.version","value":{"stringValue":%q}}]},"scopeSpans":[{"spans":[%s]}]}`, name, version, strings.Join(spans, ","))
	}
	var resources []string
	for i, trace := range []string{goodTrace, badTrace} {
		status := []string{"200", "503"}[i]
		offset := int64(i) * 60_000000000
		resources = append(resources,
			service("web", "2.0.1", span(trace, fmt.Sprintf("aaaaaaaaaaaaaa%02d", i), "", "GET /cart", 2, offset, 51_000000, status),
				span(trace, fmt.Sprintf("bbbbbbbbbbbbbb%02d", i), fmt.Sprintf("aaaaaaaaaaaaaa%02d", i), "GET", 3, offset+2_000000, 45_000000, status)),
			service("carts", "1.4.2", span(trace, fmt.Sprintf("cccccccccccccc%02d", i), fmt.Sprintf("bbbbbbbbbbbbbb%02d", i), "GET /carts/{id}", 2, offset+5_000000, 40_000000, status)))
	}
	path := filepath.Join(t.TempDir(), "traces.json")
	if err := os.WriteFile(path, []byte(`{"resourceSpans":[`+strings.Join(resources, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// repository makes a repository of two commits.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	git := func(args ...string) {
		c := exec.Command("git", append([]string{"-C", dir}, args...)...)
		c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=2026-11-20T11:40:00Z", "GIT_COMMITTER_DATE=2026-11-20T11:40:00Z"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "carts.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("remote", "add", "origin", "https://example.org/acme/shop.git")
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/acme/shop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("package carts\n\nimport \"net/http\"\n\nfunc routes(mux *http.ServeMux) { mux.HandleFunc(\"GET /carts/{id}\", getCart) }\n\nfunc getCart(w http.ResponseWriter, r *http.Request) { load(r.PathValue(\"id\")) }\n\nfunc load(id string) {}\n")
	git("add", "-A")
	git("commit", "-qm", "carts: serve carts")
	write("package carts\n\nimport \"net/http\"\n\nfunc routes(mux *http.ServeMux) { mux.HandleFunc(\"GET /carts/{id}\", getCart) }\n\nfunc getCart(w http.ResponseWriter, r *http.Request) { load(r.PathValue(\"id\")) }\n\n// load reads a cart from redis.\nfunc load(id string) { connect() }\n\nfunc connect() {}\n")
	git("commit", "-qam", "cart: keep carts in redis")
	return dir
}
