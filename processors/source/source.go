// Package source turns the events of the topic `commits` into records. The record of a file's
// content (recountv1.FileFacts: declarations, references, imports, routes) is a pure function of
// its bytes and of the language that its path implies. Package languages holds the extractor of
// each language; what the names refer to is resolved later, over all files of a snapshot
// (languages/resolve).
package source

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the processor's name and version, as stored in Rejected.by. A change of what is extracted
// changes the version of the language's extractor instead.
const Name = "source/1"

// MaxContent is the maximum size in bytes of a file on the log; importers skip
// larger ones and report them.
const MaxContent = 4 << 20

// Revised makes the facts record of a `source.revised` event.
func Revised(_ schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	m := payload.(*recountv1.SourceRevised)
	facts := &recountv1.FileFacts{
		Repository: m.GetRepository(), Path: m.GetPath(), Blob: m.GetBlob(),
		Size: m.GetSize(), Skipped: m.GetSkipped(),
	}
	rec.Body = &recountv1.Record_FileFacts{FileFacts: facts}
	lang, known := languages.OfPath(m.GetPath())
	facts.Language = lang.Name
	if m.GetSkipped() != "" {
		return nil
	}
	content, err := contentOf(m)
	if err != nil {
		return err
	}
	if len(m.GetRedacted()) == 0 {
		facts.Size = int64(len(content))
	}
	if known {
		lang.Run(content, facts)
	}
	return nil
}

// Commit makes the record of a `commit.recorded` event, which is its payload.
func Commit(_ schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	m := payload.(*recountv1.CommitRecorded)
	if err := checkCommit(m); err != nil {
		return err
	}
	rec.Body = &recountv1.Record_Commit{Commit: m}
	return nil
}

// Ref makes the record of a `ref.moved` event, which is its payload.
func Ref(_ schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	rec.Body = &recountv1.Record_RefMoved{RefMoved: payload.(*recountv1.RefMoved)}
	return nil
}

// Retired makes the record of a `snapshots.retired` event, which is its payload.
func Retired(_ schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	rec.Body = &recountv1.Record_SnapshotsRetired{SnapshotsRetired: payload.(*recountv1.SnapshotsRetired)}
	return nil
}

// contentOf returns the file's bytes. It checks them against git's object id, unless the importer
// redacted secrets.
func contentOf(m *recountv1.SourceRevised) ([]byte, error) {
	if len(m.GetContent()) > 0 && len(m.GetContentZstd()) > 0 {
		return nil, schemas.Poisonf("content and content_zstd: at most one may be set")
	}
	content := m.GetContent()
	if z := m.GetContentZstd(); len(z) > 0 {
		var err error
		if content, err = schemas.Decompress(z, MaxContent); err != nil {
			return nil, schemas.Poisonf("content_zstd: %v", err)
		}
	}
	if len(content) > MaxContent {
		return nil, schemas.Poisonf("content: %d bytes, the maximum is %d: send it with skipped and without content", len(content), MaxContent)
	}
	if len(m.GetRedacted()) > 0 {
		return content, nil
	}
	if got := BlobID(content, len(m.GetBlob()) == 64); got != m.GetBlob() {
		return nil, schemas.Poisonf("blob %s: does not match the content, whose object id is %s", m.GetBlob(), got)
	}
	return content, nil
}

// BlobID returns git's object id of a file's content, in hex: SHA-1 or SHA-256 over "blob", a
// space, the length, a zero byte and the bytes.
func BlobID(content []byte, sha256sum bool) string {
	var h hash.Hash = sha1.New()
	if sha256sum {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %s\x00", strconv.Itoa(len(content)))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
