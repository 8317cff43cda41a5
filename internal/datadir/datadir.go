// Package datadir finds the server that uses a data directory, and locks the directory for a process
// that opens it. It imports nothing that is slow to start, so that a small program can ask that
// server; package server/node owns the directory.
package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/internal/secretfile"
)

// The files of a data directory that other processes look at.
const (
	LockFile      = "LOCK"
	EndpointsFile = "endpoints.json"
)

// Endpoints is the content of endpoints.json: the addresses of a running node.
type Endpoints struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	DataID  string    `json:"data_id"`
	Started time.Time `json:"started"`
	// HTTP is the API's URL, empty if it is not served.
	HTTP string `json:"http,omitempty"`
	// Kafka is the embedded broker's address, empty if it does not listen.
	Kafka string `json:"kafka,omitempty"`
	// KafkaTLS reports that the broker's listener uses TLS. If HTTP needs a token, so does the
	// broker, by SASL.
	KafkaTLS bool `json:"kafka_tls,omitempty"`
	// OTLPGRPC is the host:port for spans over gRPC, and OTLPHTTP the base URL, without /v1/traces,
	// for spans over HTTP; empty if they are not served.
	OTLPGRPC string `json:"otlp_grpc,omitempty"`
	OTLPHTTP string `json:"otlp_http,omitempty"`
	// Brokers are the external brokers in use.
	Brokers []string `json:"brokers,omitempty"`
	// TokenNeeded reports that HTTP needs a token; TokenFile is the file that holds it, if any.
	TokenFile   string `json:"token_file,omitempty"`
	TokenNeeded bool   `json:"token_needed,omitempty"`
	// TokensFile is the file with the other tokens' hashes.
	TokensFile string   `json:"tokens_file,omitempty"`
	Roles      []string `json:"roles"`
}

// ReadEndpoints reads the endpoints of the node that uses a data directory. After a crash the file
// may be out of date; use Running to find out.
func ReadEndpoints(dataDir string) (Endpoints, error) {
	var e Endpoints
	b, err := os.ReadFile(filepath.Join(dataDir, EndpointsFile))
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, fmt.Errorf("%s: %w", EndpointsFile, err)
	}
	return e, nil
}

// ErrInUse is returned if another process has locked the data directory.
var ErrInUse = errors.New("in use by another process")

// Lock locks a data directory for this process until the returned file is closed.
func Lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return nil, notWritable(dir, err)
	} else if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	// Running holds the lock only for a moment; a node holds it as long as it is open.
	for try := 0; ; try++ {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || try == 20 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(ErrInUse, f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("data directory %s: lock: %w", dir, err), f.Close())
	}
	return f, nil
}

// notWritable returns the error about a data directory that this process may not write to.
func notWritable(dir string, err error) error {
	return fmt.Errorf("data directory %s: not writable: %w; questions write there as well: make it writable, or copy it and name the copy with --data-dir", dir, err)
}

// Running returns the endpoints of the node that uses a data directory now. ok is false if there is
// none, even if a crash left its endpoints behind.
func Running(dataDir string) (e Endpoints, ok bool, err error) {
	f, err := os.OpenFile(filepath.Join(dataDir, LockFile), os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, false, nil
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS):
		return e, false, notWritable(dataDir, err)
	case err != nil:
		return e, false, fmt.Errorf("data directory %s: %w", dataDir, err)
	}
	defer f.Close()
	// The lock is shared, so that two concurrent calls do not take each other for a node. Closing f
	// releases it.
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return e, false, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return e, false, fmt.Errorf("data directory %s: lock: %w", dataDir, err)
	}
	e, err = ReadEndpoints(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		// The node is starting or stopping, or has no listeners.
		return e, true, nil
	}
	return e, true, err
}

// Token returns the token for the node's API: $RECOUNT_TOKEN, else the first line of the node's
// token file, "" if it has none.
func (e Endpoints) Token(getenv func(string) string) (string, error) {
	token := getenv("RECOUNT_TOKEN")
	if token != "" || e.TokenFile == "" {
		return token, nil
	}
	if err := secretfile.Check(e.TokenFile); err != nil {
		return "", err
	}
	b, err := os.ReadFile(e.TokenFile)
	if err != nil {
		return "", fmt.Errorf("the token of the server at %s: %w; or set RECOUNT_TOKEN", e.HTTP, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), nil
}
