package spool

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

// Entry is an event for the log. Its secrets are already removed.
type Entry struct {
	// ID is the event's id in the text form of a UUID. It makes repetitions recognisable.
	ID     string    `json:"id"`
	Type   string    `json:"type"`
	Source string    `json:"source"`
	Time   time.Time `json:"time"`
	// Key is the event's key; if empty, the log derives it.
	Key string `json:"key,omitempty"`
	// Data is the payload in JSON.
	Data json.RawMessage `json:"data"`
}

// NewID returns a new unique id.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

const magic = "rs1 "

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame adds the frame of an entry to b.
func appendFrame(b []byte, e Entry) ([]byte, error) {
	j, err := json.Marshal(e)
	if err != nil {
		return b, fmt.Errorf("spool: encode %s: %w", e.Type, err)
	}
	b = append(b, '\n')
	b = append(b, magic...)
	b = strconv.AppendInt(b, int64(len(j)), 10)
	b = fmt.Appendf(b, " %08x ", crc32.Checksum(j, castagnoli))
	b = append(b, j...)
	return append(b, '\n'), nil
}

// parse splits the content of a file into entries and damaged lines, both in order.
func parse(b []byte) (entries []Entry, damaged [][]byte) {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		b = rest
		if len(line) == 0 {
			continue
		}
		e, ok := parseFrame(line)
		if !ok {
			damaged = append(damaged, line)
			continue
		}
		entries = append(entries, e)
	}
	return entries, damaged
}

func parseFrame(line []byte) (e Entry, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(magic))
	if !ok {
		return e, false
	}
	length, rest, _ := bytes.Cut(rest, []byte{' '})
	sum, j, ok := bytes.Cut(rest, []byte{' '})
	if !ok {
		return e, false
	}
	n, err := strconv.Atoi(string(length))
	if err != nil || n != len(j) {
		return e, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if err != nil || uint32(want) != crc32.Checksum(j, castagnoli) {
		return e, false
	}
	return e, json.Unmarshal(j, &e) == nil && e.ID != ""
}
