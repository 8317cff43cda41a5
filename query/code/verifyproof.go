package code

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Verified is what a proof shows.
type Verified struct {
	EdgeProof
	// Known is what the snapshot stores of the edge; nil where it is absent.
	Known *recountv1.CodeEdge
}

// VerifyProof checks a proof, as Prove made it and JSON carries it, and reads
// nothing else. It proves its claim of the snapshot it names; who wants it of a
// certain one gives that one's hash. Errors are ErrNotProved.
func VerifyProof(file []byte, snapshot *schemas.Hash) (Verified, error) {
	v, err := verifyProof(file, snapshot)
	if err != nil {
		return Verified{}, fmt.Errorf("%w: %w", ErrNotProved, err)
	}
	return v, nil
}

func verifyProof(file []byte, snapshot *schemas.Hash) (v Verified, err error) {
	if len(file) > MaxProof {
		return v, fmt.Errorf("%d bytes: a proof has at most %d", len(file), MaxProof)
	}
	p := &v.EdgeProof
	var form struct {
		Version int `json:"recount_proof"`
	}
	if err := json.Unmarshal(file, &form); err == nil && form.Version != proofVersion {
		return v, fmt.Errorf("a proof of form %d: this program knows form %d; prove it again, or verify it with the program that made it%s", form.Version, proofVersion, whyNot[form.Version])
	}
	if err := strictJSON(file, p); err != nil {
		return v, fmt.Errorf("not a proof: %w", err)
	}
	// One claim has one file: what decodes to the same in another form (a key twice, digits
	// of a hash in capitals) may read otherwise elsewhere.
	if again, err := p.Encode(); err != nil {
		return v, fmt.Errorf("not a proof: %w", err)
	} else if !bytes.Equal(again, bytes.TrimSuffix(file, []byte("\n"))) {
		return v, errors.New("not in the form that prove prints it: want the same bytes, with no space, no key twice and hashes in small letters (of an answer over HTTP: jq -c .evidence)")
	}
	maps := &recountv1.CodeMaps{}
	fields := mapFields(maps)
	if len(p.Maps) != len(fields) {
		return v, fmt.Errorf("%d maps, want %d", len(p.Maps), len(fields))
	}
	roots := map[snapshots.Which]prolly.Hash{}
	for which, field := range fields {
		var h prolly.Hash
		text := p.Maps[string(which)]
		if err := h.UnmarshalText([]byte(text)); err != nil {
			return v, fmt.Errorf("map %s: %w", which, err)
		}
		if h.String() != text {
			return v, fmt.Errorf("map %s: %.80q: want its hash in small letters", which, text)
		}
		roots[which], *field = h, h[:]
	}
	hash, err := snapshots.HashOf(&recountv1.CodeSnapshot{Repository: p.Repository, Commit: p.Commit, Parents: p.Parents, Maps: maps})
	switch {
	case err != nil:
		return v, err
	case hash != p.Snapshot:
		return v, fmt.Errorf("repository, commit, parents and maps have the snapshot %s, not %s", hash, p.Snapshot)
	case snapshot != nil && hash != *snapshot:
		return v, fmt.Errorf("it is about snapshot %s, not %s", hash, snapshot)
	}
	which, key, err := p.key()
	if err != nil {
		return v, err
	}
	if digest := p.digest(which, key); digest != p.Digest {
		return v, fmt.Errorf("the claim has the hash %s, not %s", digest, p.Digest)
	}
	if err := verifyPath(roots[which], prolly.Claim{Key: key, Value: p.Value, Absent: p.Absent}, p.Path); err != nil {
		return v, err
	}
	if (p.Ends != nil) != p.Absent {
		return v, errors.New("ends: want them where the edge is absent, and there alone")
	}
	if p.Ends != nil {
		if err := p.verifyEnds(roots); err != nil {
			return v, err
		}
	}
	if !p.Absent {
		v.Known = &recountv1.CodeEdge{}
		return v, unmarshal(p.Value, v.Known)
	}
	return v, nil
}

// verifyEnds checks that the snapshot knows both ends.
func (p EdgeProof) verifyEnds(roots map[snapshots.Which]prolly.Hash) error {
	for _, end := range []struct {
		name    string
		proof   ProvenEnd
		node    *NodeName
		outside *OutsideName
	}{{"from", p.Ends.From, &p.From, nil}, {"to", p.Ends.To, p.To, p.Outside}} {
		which, key, err := end.proof.key(end.node, end.outside)
		if err == nil {
			err = verifyPath(roots[which], prolly.Claim{Key: key, Value: end.proof.Value}, end.proof.Path)
		}
		if err != nil {
			return fmt.Errorf("ends.%s: %w", end.name, err)
		}
	}
	return nil
}

// verifyPath checks the proof of an entry, which must have its one form.
func verifyPath(root prolly.Hash, claim prolly.Claim, text json.RawMessage) error {
	var path prolly.Proof
	if err := strictJSON(text, &path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if again, err := encodePath(&path); err != nil {
		return fmt.Errorf("path: %w", err)
	} else if !bytes.Equal(again, text) {
		return errors.New("path: not in the form that prove prints it")
	}
	return prolly.Verify(root, claim, &path)
}

// Encode is the one form that a proof has as a file, without a line's end.
func (p EdgeProof) Encode() ([]byte, error) {
	// A list or a text that is missing is an empty one.
	if p.Parents == nil {
		p.Parents = []string{}
	}
	if p.Ends != nil {
		ends := *p.Ends
		ends.From.Value, ends.To.Value = append([]byte{}, ends.From.Value...), append([]byte{}, ends.To.Value...)
		p.Ends = &ends
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// whyNot says of older forms why they are refused.
var whyNot = map[int]string{2: " (form 2 did not show that the ends of an absent edge exist)"}

// strictJSON reads one JSON value that has no field unknown, and nothing behind it.
func strictJSON(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind it")
	}
	return nil
}
