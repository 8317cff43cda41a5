package accesslog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/recountdb/recount/schemas"
)

// Marks records how far the logs of a service were read. Logs are identified by their content, not
// by their names, so that a log is recognised after it has grown, was renamed or was compressed.
// Marks are a cache. Without them everything is appended again with the same ids, except for the
// lines after the last thousand, which then are in an event with another end.
type Marks struct {
	path string
	marksFile
}

// marksFile is the content of a file of marks.
type marksFile struct {
	Version int `json:"version"`
	// Log is the data directory's id: the marks are not valid for another one.
	Log     string `json:"log"`
	Service string `json:"service"`
	Read    []mark `json:"read"` // the newest last
	// Last is the position of the newest event, and Mark distinguishes it from those of other logs.
	Last *schemas.Position `json:"last,omitempty"`
	Mark string            `json:"mark,omitempty"`
}

// mark records that a log that begins with these bytes was read up to there.
type mark struct {
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"`
}

const (
	marksVersion = 1
	maxMarks     = 100
)

// OpenMarks reads the marks of a service below dir; log is the id of the log's data directory. A
// missing or damaged file counts as empty.
func OpenMarks(dir, log, service string) *Marks {
	name := schemas.NewCanon("recount/import/access-log/marks/1").String(log).String(service).Sum().String()[:16] + ".json"
	m := &Marks{path: filepath.Join(dir, name)}
	fresh := marksFile{Version: marksVersion, Log: log, Service: service}
	b, err := os.ReadFile(m.path)
	if err != nil || json.Unmarshal(b, &m.marksFile) != nil || m.Version != marksVersion || m.Log != log || m.Service != service {
		m.marksFile = fresh
	}
	return m
}

// OfLog reports whether the log still contains what was read: mark is the log's mark at Last, "" if
// there is no record.
func (m *Marks) OfLog(mark string) bool { return mark != "" && (m.Mark == "" || m.Mark == mark) }

// Forget resets the marks, as if nothing was read.
func (m *Marks) Forget() { m.Read, m.Last, m.Mark = nil, nil, "" }

// Known returns how many lines at the start of r were read before.
func (m *Marks) Known(r io.Reader) (lines int, err error) {
	marks := slices.Clone(m.Read)
	slices.SortFunc(marks, func(a, b mark) int { return int(min(max(a.Bytes-b.Bytes, -1), 1)) })
	h := sha256.New()
	at := int64(0)
	for _, k := range marks {
		n, err := io.CopyN(h, r, k.Bytes-at)
		if at += n; errors.Is(err, io.EOF) {
			return lines, nil // shorter than the log of that mark
		}
		if err != nil {
			return 0, err
		}
		if hex.EncodeToString(h.Sum(nil)) == k.SHA256 {
			lines = k.Lines
		}
	}
	return lines, nil
}

// Add records that a log with this number of lines and bytes was read and appended.
func (m *Marks) Add(lines int, bytes int64, sum [sha256.Size]byte) error {
	k := mark{Bytes: bytes, Lines: lines, SHA256: hex.EncodeToString(sum[:])}
	if bytes == 0 || slices.Contains(m.Read, k) {
		return nil
	}
	m.Read = append(m.Read, k)
	m.Read = m.Read[max(0, len(m.Read)-maxMarks):]
	b, err := json.Marshal(m.marksFile)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.path), 0o700)
	}
	// It is not synced: after a crash the file may be unreadable and is then ignored.
	if err == nil {
		err = os.WriteFile(m.path+".new", b, 0o600)
	}
	if err == nil {
		err = os.Rename(m.path+".new", m.path)
	}
	if err != nil {
		return fmt.Errorf("store the position of the import: %w", err)
	}
	return nil
}
