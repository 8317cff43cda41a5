package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

// pages is the pagination of a list: a question is asked for all up to the end of a page, and what
// earlier pages had is cut off. At the same watermark the pages of a list have each entry once.
type pages struct {
	offset, size int
	of           [8]byte // the arguments without the cursor
}

// maxOffset bounds how far a cursor reaches: the largest limit of a question.
const maxOffset = 10_000

// page returns the page that a cursor names: the first for "". It takes the cursor out of the
// arguments, of which it is a field. size is the number of entries of a page, usual if it is 0.
func page(tool string, cursor *string, size, usual int, arguments any) (pages, error) {
	if size == 0 {
		size = usual
	}
	if size < 1 || size > maxPage {
		return pages{}, &argumentError{tool, "limit: want 1 to 500"}
	}
	p, given := pages{size: size}, *cursor
	*cursor = ""
	b, err := json.Marshal(arguments)
	if err != nil {
		return p, err
	}
	sum := sha256.Sum256(append([]byte(tool+"\x00"), b...))
	copy(p.of[:], sum[:])
	if given == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(given)
	if err != nil || len(raw) != 12 || [8]byte(raw[4:]) != p.of {
		return p, &argumentError{tool, "cursor: not one of this call: repeat the call with the same arguments and the cursor of its answer, or leave cursor out"}
	}
	p.offset = int(binary.BigEndian.Uint32(raw))
	if p.offset > maxOffset {
		return p, &argumentError{tool, "cursor: beyond the end: ask for something narrower"}
	}
	return p, nil
}

// maxPage is the maximum number of entries of a page.
const maxPage = 500

// limit is the limit to ask with: one more than the page, to know whether another follows.
func (p pages) limit() int { return min(p.offset+p.size+1, maxOffset) }

// cut returns the entries of the page, and the cursor of the next.
func cut[T any](p pages, list []T) (entries []T, next string) {
	end := min(p.offset+p.size, len(list))
	if end < len(list) {
		raw := binary.BigEndian.AppendUint32(nil, uint32(end))
		next = base64.RawURLEncoding.EncodeToString(append(raw, p.of[:]...))
	}
	return list[min(p.offset, end):end], next
}
