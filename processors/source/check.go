package source

import (
	"encoding/hex"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Check returns an error for an event of the topic `commits` that the schema's constraints accept
// but this package or the projection of code refuses. An endpoint that calls it before appending
// therefore accepts nothing that is rejected later. Errors are of class ErrPoison and name the
// field.
func Check(payload proto.Message) error {
	switch m := payload.(type) {
	case *recountv1.SourceRevised:
		if m.GetSkipped() != "" {
			return nil
		}
		_, err := contentOf(m)
		return err
	case *recountv1.CommitRecorded:
		return checkCommit(m)
	}
	return nil
}

func checkCommit(m *recountv1.CommitRecorded) error {
	switch {
	case m.GetParts() > schemas.MaxCommitParts:
		return schemas.Poisonf("parts: a commit has %d parts, the maximum is %d", m.GetParts(), schemas.MaxCommitParts)
	case m.GetParts() > 0 && m.GetPart() >= m.GetParts():
		return schemas.Poisonf("part %d of %d: parts are counted from 0", m.GetPart(), m.GetParts())
	}
	for i, c := range m.GetChanges() {
		if strings.IndexByte(c.GetPath(), 0) >= 0 {
			return schemas.Poisonf("changes[%d].path: holds a NUL byte", i)
		}
		if _, err := hex.DecodeString(c.GetBlob()); err != nil {
			return schemas.Poisonf("changes[%d].blob: object id %q: not hexadecimal", i, c.GetBlob())
		}
	}
	return nil
}
