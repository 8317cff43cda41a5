package recallhook

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas/clip"
)

// endpoint is a server on http:// of this machine: its name in requests, and the addresses at which
// it may listen.
type endpoint struct {
	host, prefix, token string
	addresses           []string
}

// errNone means that there is no server to ask.
var errNone = errors.New("no server")

// find returns the server: the one that RECOUNT_SERVER names, else the one that runs on the data
// directory.
func find(getenv func(string) string) (endpoint, error) {
	e := endpoint{token: getenv("RECOUNT_TOKEN")}
	base := getenv("RECOUNT_SERVER")
	if base == "" {
		s, err := recording.Load(getenv)
		if s.DataDir == "" {
			return e, err
		}
		if base, err = e.running(s.DataDir); err != nil {
			return e, err
		}
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return e, fmt.Errorf("server %q: not a URL", base)
	}
	if u.Scheme != "http" {
		return e, fmt.Errorf("server %s: nothing is recalled from a server on %s://", u.Redacted(), u.Scheme)
	}
	host, port := u.Hostname(), cmp.Or(u.Port(), "80")
	e.host, e.prefix = u.Host, strings.TrimSuffix(u.Path, "/")
	// No name is looked up: a name server may take its time.
	ip := net.ParseIP(host)
	switch {
	case host == "localhost":
		e.addresses = []string{net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)}
	case ip != nil && ip.IsLoopback():
		e.addresses = []string{net.JoinHostPort(host, port)}
	default:
		return e, fmt.Errorf("server %s: prompts are not sent over http:// to another machine", u.Redacted())
	}
	return e, nil
}

// running returns the URL of the server that holds the data directory's lock. The file with its
// address may be of an earlier one, so the lock decides whether it is valid.
func (e *endpoint) running(dir string) (string, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR, 0)
	if err != nil {
		return "", errNone
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
		return "", errNone
	}
	b, err := os.ReadFile(filepath.Join(dir, "endpoints.json"))
	if err != nil {
		return "", errNone
	}
	var f struct {
		HTTP      string `json:"http"`
		TokenFile string `json:"token_file"`
	}
	if err := json.Unmarshal(b, &f); err != nil || f.HTTP == "" {
		return "", errNone
	}
	if e.token == "" && f.TokenFile != "" {
		st, err := os.Stat(f.TokenFile)
		if err != nil || st.Mode().Perm()&0o077 != 0 {
			return "", fmt.Errorf("the token's file %s: it must be readable by its owner alone", f.TokenFile)
		}
		t, err := os.ReadFile(f.TokenFile)
		if err != nil {
			return "", err
		}
		line, _, _ := strings.Cut(string(t), "\n")
		e.token = strings.TrimSpace(line)
	}
	return f.HTTP, nil
}

// maxAnswer limits an answer, in bytes.
const maxAnswer = 1 << 20

// ask asks a question until a deadline.
func (e endpoint) ask(dial func(string, time.Time) (net.Conn, error), q question, deadline time.Time) (a answer, err error) {
	body, err := json.Marshal(q.request)
	if err != nil {
		return a, err
	}
	var conn net.Conn
	for _, address := range e.addresses {
		if conn, err = dial(address, deadline); err == nil {
			break
		}
	}
	if conn == nil {
		return a, errNone
	}
	defer conn.Close()
	if err := conn.SetDeadline(deadline); err != nil {
		return a, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s/v1/%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json\r\nConnection: close\r\nContent-Length: %d\r\n", e.prefix, q.path, e.host, len(body))
	if e.token != "" {
		if strings.ContainsAny(e.token, "\r\n") {
			return a, errors.New("the token has more than one line")
		}
		b.WriteString("Authorization: Bearer " + e.token + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		return a, err
	}
	content, err := read(bufio.NewReader(io.LimitReader(conn, maxAnswer)))
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(content, &a)
}

// read reads the body of a successful response: of a given length, in chunks, or to the end.
func read(r *bufio.Reader) ([]byte, error) {
	status, err := line(r)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(status, "HTTP/1.1 200 ") {
		return nil, errors.New("the server answered " + clip.Head(status, 100))
	}
	length, chunked := -1, false
	for {
		h, err := line(r)
		if err != nil {
			return nil, err
		}
		if h == "" {
			break
		}
		name, value, _ := strings.Cut(h, ":")
		switch value = strings.TrimSpace(value); strings.ToLower(name) {
		case "content-length":
			if length, err = strconv.Atoi(value); err != nil || length < 0 || length > maxAnswer {
				return nil, errors.New("the server's answer has no valid length")
			}
		case "transfer-encoding":
			chunked = strings.EqualFold(value, "chunked")
		}
	}
	switch {
	case chunked:
		return readChunks(r)
	case length >= 0:
		b := make([]byte, length)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	return io.ReadAll(r)
}

func readChunks(r *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		size, err := line(r)
		if err != nil {
			return nil, err
		}
		size, _, _ = strings.Cut(size, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 31)
		if err != nil || n > maxAnswer {
			return nil, errors.New("the server's answer has no valid length")
		}
		if n == 0 {
			return all, nil
		}
		at := len(all)
		all = append(all, make([]byte, n)...)
		if _, err := io.ReadFull(r, all[at:]); err != nil {
			return nil, err
		}
		if _, err := line(r); err != nil {
			return nil, err
		}
	}
}

// line reads a line of a response's head.
func line(r *bufio.Reader) (string, error) {
	s, err := r.ReadString('\n')
	return strings.TrimRight(s, "\r\n"), err
}
