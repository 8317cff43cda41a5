package schemas

import (
	"bytes"
	"encoding/base64"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changes reads a Changes; see plainCommand.
func (in *plainJSON) changes(to **recountv1.Changes) bool {
	c := &recountv1.Changes{}
	seen := uint32(0)
	for more := in.open(); more; more = in.more() {
		fine := false
		switch name := in.name(); string(name) {
		case "below":
			fine = once(&seen, 1) && in.text(&c.Below, 4096) && c.Below != ""
		case "looked_at":
			fine = once(&seen, 2) && in.timestamp(&c.LookedAt)
		case "files":
			fine = once(&seen, 3) && in.list(1000, func() bool {
				f := &recountv1.WrittenFile{}
				c.Files = append(c.Files, f)
				return in.writtenFile(f)
			})
		case "directories":
			fine = once(&seen, 4) && in.list(1000, func() bool {
				dir := ""
				ok := in.text(&dir, 4096) && dir != ""
				c.Directories = append(c.Directories, dir)
				return ok
			})
		case "remembered":
			fine = once(&seen, 5) && in.truth(&c.Remembered)
		}
		if !fine {
			return false
		}
	}
	*to = c
	return !in.failed && c.Below != "" && c.LookedAt != nil
}

// writtenFile reads a WrittenFile with a size of at most nine digits.
func (in *plainJSON) writtenFile(f *recountv1.WrittenFile) bool {
	seen := uint32(0)
	for more := in.open(); more; more = in.more() {
		fine := false
		switch name := in.name(); string(name) {
		case "path":
			fine = once(&seen, 1) && in.text(&f.Path, 4096) && f.Path != ""
		case "sha256":
			fine = once(&seen, 2) && in.hash(&f.Sha256)
		case "size":
			var n *int32
			if fine = once(&seen, 3) && in.small(&n); fine {
				f.Size = int64(*n)
			}
		case "removed":
			fine = once(&seen, 7) && in.truth(&f.Removed)
		case "mode":
			fine = once(&seen, 4) && in.mode(&f.Mode)
		case "was_sha256":
			fine = once(&seen, 5) && in.hash(&f.WasSha256)
		case "was_mode":
			fine = once(&seen, 6) && in.mode(&f.WasMode)
		}
		if !fine {
			return false
		}
	}
	return !in.failed && f.Path != ""
}

// truth reads true or false.
func (in *plainJSON) truth(to *bool) bool {
	in.peek()
	for _, word := range []string{"true", "false"} {
		if rest, ok := bytes.CutPrefix(in.rest, []byte(word)); ok {
			in.rest, *to = rest, word == "true"
			return true
		}
	}
	return false
}

// mode reads the permissions of a file.
func (in *plainJSON) mode(to *uint32) bool {
	var n *int32
	if !in.small(&n) || *n < 0 || *n > 4095 {
		return false
	}
	*to = uint32(*n)
	return true
}

// list reads an array of at most `most` elements.
func (in *plainJSON) list(most int, element func() bool) bool {
	if !in.take('[') {
		return false
	}
	if in.peek() == ']' {
		return in.take(']')
	}
	for range most {
		if !element() {
			return false
		}
		if in.peek() == ']' {
			return in.take(']')
		}
		if !in.take(',') {
			return false
		}
	}
	return false
}

// hash reads 32 bytes in base64.
func (in *plainJSON) hash(to *[]byte) bool {
	raw, escaped := in.raw()
	if escaped || len(raw) != base64.StdEncoding.EncodedLen(32) {
		return false
	}
	b := make([]byte, 33)
	n, err := base64.StdEncoding.Strict().Decode(b, raw)
	*to = b[:n]
	return err == nil && n == 32
}
