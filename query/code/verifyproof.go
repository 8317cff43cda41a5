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

// Verified is the result of a verification.
type Verified struct {
	EdgeProof
	// Known is the stored edge; nil if it is absent.
	Known *recountv1.CodeEdge
}

// VerifyProof checks a proof in the JSON form of Prove, without reading anything else. The proof
// shows its claim for the snapshot that it names. A caller who needs a certain snapshot passes its
// hash; nil accepts any. Errors wrap ErrNotProved.
func VerifyProof(file []byte, snapshot *schemas.Hash) (Verified, error) {
	v, err := verifyProof(file, snapshot)
	if err != nil {
		return Verified{}, fmt.Errorf("%w: %w", ErrNotProved, err)
	}
	return v, nil
}

func verifyProof(file []byte, snapshot *schemas.Hash) (v Verified, err error) {
	if len(file) > MaxProof {
		return v, fmt.Errorf("%d bytes, the maximum for a proof is %d", len(file), MaxProof)
	}
	p := &v.EdgeProof
	var form struct {
		Version int `json:"recount_proof"`
	}
	if err := json.Unmarshal(file, &form); err == nil && form.Version != proofVersion {
		return v, fmt.Errorf("the proof has version %d, this program reads version %d: prove it again, or verify it with the program that made it%s", form.Version, proofVersion, whyNot[form.Version])
	}
	if err := strictJSON(file, p); err != nil {
		return v, fmt.Errorf("not a proof: %w", err)
	}
	// Each claim has exactly one file: another form that decodes to the same value (a duplicate
	// key, capital digits in a hash) may be interpreted differently by other readers.
	if again, err := p.Encode(); err != nil {
		return v, fmt.Errorf("not a proof: %w", err)
	} else if !bytes.Equal(again, bytes.TrimSuffix(file, []byte("\n"))) {
		return v, errors.New("not the bytes that prove printed: want them unchanged, without spaces or repeated keys and with lower-case hashes (from an HTTP answer: jq -c .evidence)")
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
			return v, fmt.Errorf("map %s: %.80q: want its hash in lower case", which, text)
		}
		roots[which], *field = h, h[:]
	}
	hash, err := snapshots.HashOf(&recountv1.CodeSnapshot{Repository: p.Repository, Commit: p.Commit, Parents: p.Parents, Maps: maps})
	switch {
	case err != nil:
		return v, err
	case hash != p.Snapshot:
		return v, fmt.Errorf("repository, commit, parents and maps give the snapshot %s, not %s", hash, p.Snapshot)
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
		return v, errors.New("ends: want them exactly if the edge is absent")
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

// verifyEnds checks that the snapshot has both ends.
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

// verifyPath checks the proof of an entry, which must be in its canonical form.
func verifyPath(root prolly.Hash, claim prolly.Claim, text json.RawMessage) error {
	var path prolly.Proof
	if err := strictJSON(text, &path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	if again, err := encodePath(&path); err != nil {
		return fmt.Errorf("path: %w", err)
	} else if !bytes.Equal(again, text) {
		return errors.New("path: not the bytes that prove printed")
	}
	return prolly.Verify(root, claim, &path)
}

// Encode returns the canonical form of a proof as a file, without a final newline.
func (p EdgeProof) Encode() ([]byte, error) {
	// Missing lists and texts are encoded as empty ones.
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

// whyNot has the reasons why older forms are rejected.
var whyNot = map[int]string{2: " (version 2 did not prove that the ends of an absent edge exist)"}

// strictJSON decodes exactly one JSON value and rejects unknown fields.
func strictJSON(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after it")
	}
	return nil
}
