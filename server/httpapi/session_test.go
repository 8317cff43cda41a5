package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/web"
)

// browser sends requests as a page of the server does.
type browser struct {
	t       *testing.T
	handler http.Handler
	cookies []*http.Cookie
	key     string
	// host and what the browser says of the page that sends; empty: left out.
	host, origin, site string
}

func newBrowser(t *testing.T, o httpapi.Options) *browser {
	return &browser{t: t, handler: httpapi.New(&fake{}, o), host: "localhost:7171", origin: "http://localhost:7171", site: "same-origin"}
}

func (b *browser) send(method, path, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, "http://"+b.host+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4711"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{"Origin": b.origin, "Sec-Fetch-Site": b.site, "Recount-Session-Key": b.key} {
		if value != "" && !(name == "Origin" && method == "GET") {
			r.Header.Set(name, value)
		}
	}
	for _, c := range b.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

// login logs in and keeps both secrets.
func (b *browser) login(token string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.send("POST", "/login", `{"token":"`+token+`"}`)
	if w.Code == 200 {
		var answer struct{ Key string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			b.t.Fatal(err)
		}
		b.key, b.cookies = answer.Key, w.Result().Cookies()
	}
	return w
}

func (b *browser) status(method, path, body string) int { return b.send(method, path, body).Code }

func TestLogin(t *testing.T) {
	gate, token := restricted(t)
	b := newBrowser(t, httpapi.Options{Gate: gate})
	if got := b.status("GET", "/session", ""); got != 401 {
		t.Errorf("before the login: %d", got)
	}
	if w := b.login("s3cret"); w.Code != 200 || strings.Contains(w.Body.String()+w.Header().Get("Set-Cookie"), "s3cret") {
		t.Fatalf("login: %d %s: or it shows the token", w.Code, w.Body)
	}
	c := b.cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure || c.MaxAge <= 0 || c.Domain != "" {
		t.Errorf("cookie: %+v", c)
	}
	for path, want := range map[string]int{"/session": 200, "/v1/intents/ff": 404} {
		if got := b.status("GET", path, ""); got != want {
			t.Errorf("GET %s: %d, want %d", path, got, want)
		}
	}
	if got := b.status("POST", "/v1/find", `{"text":"x"}`); got != 200 {
		t.Errorf("find: %d", got)
	}
	if w := b.send("GET", "/session", ""); !strings.Contains(w.Body.String(), `"operator":true`) || !strings.Contains(w.Body.String(), `"login":true`) {
		t.Errorf("session: %s", w.Body)
	}
	// Another's token has its own limits, whatever the browser had before.
	if w := b.login(token); w.Code != 200 {
		t.Fatalf("login: %d %s", w.Code, w.Body)
	}
	if got := b.status("POST", "/v1/find", `{"text":"x"}`); got != 403 {
		t.Errorf("find without a grant: %d", got)
	}
	// After the logout both secrets are worth nothing.
	if got := b.status("POST", "/logout", ""); got != 204 {
		t.Errorf("logout: %d", got)
	}
	if got := b.status("GET", "/session", ""); got != 401 {
		t.Errorf("after the logout: %d", got)
	}
}

// TestLoginRefuses checks what does not begin a session.
func TestLoginRefuses(t *testing.T) {
	gate, _ := restricted(t)
	for name, c := range map[string]struct {
		body, host, origin, site string
		want                     int
	}{
		"a wrong token":                  {`{"token":"rct_x"}`, "localhost:7171", "http://localhost:7171", "same-origin", 401},
		"no token":                       {`{}`, "localhost:7171", "http://localhost:7171", "same-origin", 422},
		"no JSON":                        {`token`, "localhost:7171", "http://localhost:7171", "same-origin", 422},
		"too long":                       {`{"token":"` + strings.Repeat("x", 5000) + `"}`, "localhost:7171", "http://localhost:7171", "same-origin", 422},
		"another site":                   {`{"token":"s3cret"}`, "localhost:7171", "https://evil.example", "cross-site", 403},
		"another port":                   {`{"token":"s3cret"}`, "localhost:7171", "http://localhost:8888", "same-site", 403},
		"no origin":                      {`{"token":"s3cret"}`, "localhost:7171", "", "", 403},
		"a sandboxed frame":              {`{"token":"s3cret"}`, "localhost:7171", "null", "", 403},
		"a name that leads here (DNS)":   {`{"token":"s3cret"}`, "evil.example", "http://evil.example", "same-origin", 421},
		"an old browser, another site":   {`{"token":"s3cret"}`, "localhost:7171", "https://evil.example", "", 403},
		"an old browser, and the origin": {`{"token":"s3cret"}`, "localhost:7171", "http://localhost:7171", "", 200},
	} {
		synctest.Test(t, func(t *testing.T) { // wrong tokens wait
			b := newBrowser(t, httpapi.Options{Gate: gate})
			b.host, b.origin, b.site = c.host, c.origin, c.site
			if w := b.send("POST", "/login", c.body); w.Code != c.want || (len(w.Result().Cookies()) > 0) != (c.want == 200) {
				t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
			}
		})
	}
	b := newBrowser(t, httpapi.Options{})
	if w := b.send("POST", "/login", `{"token":"x"}`); w.Code != 409 || len(w.Result().Cookies()) > 0 {
		t.Errorf("without tokens: %d %s", w.Code, w.Body)
	}
	if w := b.send("GET", "/session", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"login":false`) {
		t.Errorf("session without tokens: %d %s", w.Code, w.Body)
	}
	r := httptest.NewRequest("POST", "http://localhost:7171/login", strings.NewReader(`{"token":"x"}`))
	r.Header.Set("Origin", "http://localhost:7171")
	r.Header.Set("Content-Type", "text/plain") // what a form of any page can send
	w := httptest.NewRecorder()
	httpapi.New(&fake{}, httpapi.Options{Gate: gate}).ServeHTTP(w, r)
	if w.Code != 403 {
		t.Errorf("a form: %d", w.Code)
	}
}

// TestSessionIsForOurPage checks who can use a session besides the page that began it: nobody, not
// even with one of its secrets.
func TestSessionIsForOurPage(t *testing.T) {
	gate, _ := restricted(t)
	b := newBrowser(t, httpapi.Options{Gate: gate})
	if b.login("s3cret").Code != 200 {
		t.Fatal("no login")
	}
	const find = `{"text":"x"}`
	for name, c := range map[string]struct {
		change    func(*browser)
		get, post int
	}{
		"our page":                       {func(*browser) {}, 200, 200},
		"another site's page":            {func(o *browser) { o.origin, o.site, o.key = "https://evil.example", "cross-site", "" }, 401, 403},
		"another site, with the key":     {func(o *browser) { o.origin, o.site = "https://evil.example", "cross-site" }, 401, 403},
		"a page of another port":         {func(o *browser) { o.origin, o.site = "http://localhost:8888", "same-site" }, 401, 403},
		"a name that leads here (DNS)":   {func(o *browser) { o.host, o.origin = "evil.example:7171", "http://evil.example:7171" }, 421, 421},
		"who was sent the cookie":        {func(o *browser) { o.key = "" }, 401, 401},
		"who guesses the key":            {func(o *browser) { o.key = strings.Repeat("A", 43) }, 401, 401},
		"who has the key alone":          {func(o *browser) { o.cookies = nil }, 401, 401},
		"a program that says no origin":  {func(o *browser) { o.origin, o.site = "", "" }, 200, 401},
		"an opaque origin":               {func(o *browser) { o.origin, o.site = "null", "" }, 200, 403},
		"the cookie of another's server": {func(o *browser) { o.host, o.origin = "localhost:7172", "http://localhost:7172" }, 401, 401},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := *b
			o.t = t
			c.change(&o)
			if get, post := o.status("GET", "/session", ""), o.status("POST", "/v1/find", find); get != c.get || post != c.post {
				t.Errorf("%s: GET %d, POST %d; want %d and %d", name, get, post, c.get, c.post)
			}
		})
	}
	// Another process (the server started again) knows no session of this one.
	again := newBrowser(t, httpapi.Options{Gate: gate})
	again.cookies, again.key = b.cookies, b.key
	if got := again.status("GET", "/session", ""); got != 401 {
		t.Errorf("a session of another process: %d", got)
	}
}

// TestSessionEnds checks that a session ends by itself, and with its token.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := access.NewToken()
		entry, err := access.Format(access.Entry{SHA256: access.Hash(token), Agent: "a", Workspaces: []string{"/a"}, Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "tokens.yaml")
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second) // the file is read once a second
		}
		write("tokens:\n" + entry)
		f, err := access.OpenFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := newBrowser(t, httpapi.Options{Gate: access.NewGate("s3cret", f)})
		check := func(when string, want int) {
			t.Helper()
			if got := b.status("GET", "/session", ""); got != want {
				t.Errorf("%s: %d, want %d", when, got, want)
			}
		}
		b.login(token)
		check("at first", 200)
		write("tokens: []\n")
		check("revoked", 401)
		write("tokens:\n" + entry)
		check("there again", 200)
		time.Sleep(time.Hour)
		check("expired", 401)
		b.login("s3cret")
		check("the operator", 200)
		time.Sleep(12 * time.Hour)
		check("after the session's life", 401)
	})
}

// TestSecureCookie checks that over TLS the cookie is sent over TLS alone.
func TestSecureCookie(t *testing.T) {
	gate, _ := restricted(t)
	srv := httptest.NewTLSServer(httpapi.New(&fake{}, httpapi.Options{Gate: gate}))
	defer srv.Close()
	req, err := http.NewRequest("POST", srv.URL+"/login", strings.NewReader(`{"token":"s3cret"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", srv.URL)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if c := resp.Cookies(); len(c) != 1 || !c[0].Secure || !strings.HasPrefix(c[0].Name, "__Host-") {
		t.Errorf("%d, cookies %+v", resp.StatusCode, c)
	}
}

// TestPageNeedsNoToken checks that the page itself is open, for each of its views: it holds no data.
func TestPageNeedsNoToken(t *testing.T) {
	gate, _ := restricted(t)
	page, err := web.New()
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, httpapi.Options{Gate: gate, Page: page.Register})
	for _, view := range append([]string{""}, web.Views...) {
		for _, path := range []string{"/" + view, "/" + view + "/recount.commands%2F2%2F9"} {
			if w := b.send("GET", path, ""); view != "" && (w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")) {
				t.Errorf("GET %s: %d %s", path, w.Code, w.Header().Get("Content-Type"))
			}
		}
	}
	w := b.send("GET", "/", "")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "<title>Recount</title>") {
		t.Errorf("GET /: %d", w.Code)
	}
	_, rest, _ := strings.Cut(w.Body.String(), `<link rel="stylesheet" href="`)
	asset, _, _ := strings.Cut(rest, `"`)
	if w := b.send("GET", asset, ""); w.Code != 200 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("GET %s: %d %q", asset, w.Code, w.Header().Get("Cache-Control"))
	}
}

func TestOneEvent(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{})
	if resp, body := request(t, srv, "GET", "/v1/events/recount.spans/2/9", nil); resp.StatusCode != 200 || !strings.Contains(body, `"payload_base64":"/w=="`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, body := request(t, srv, "GET", "/v1/events/recount.spans/2/10", nil); resp.StatusCode != 404 || !strings.Contains(body, "the partition holds 0 to 8") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	if resp, body := request(t, srv, "GET", "/v1/events/recount.spans/2/x", nil); resp.StatusCode != 422 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}
