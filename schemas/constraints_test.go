package schemas

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// byProtovalidate is Validate by the library that defines what the constraints mean.
func byProtovalidate(m proto.Message) error {
	err := protovalidate.Validate(m)
	var wrong *protovalidate.ValidationError
	if !errors.As(err, &wrong) {
		return err
	}
	var parts []string
	for _, v := range wrong.Violations {
		parts = append(parts, fmt.Sprintf("%s: %s", protovalidate.FieldPathString(v.Proto.GetField()), v.Proto.GetMessage()))
	}
	return Poisonf("%s", strings.Join(parts, "; "))
}

// TestConstraints compares Validate with protovalidate on payloads of every kind, whose values lie at
// the limits and beside them.
func TestConstraints(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 127))
	refused, seen := 0, map[string]bool{}
	for _, k := range Kinds() {
		m := k.New()
		if name := string(m.ProtoReflect().Descriptor().FullName()); seen[name] {
			continue
		} else {
			seen[name] = true
		}
		for range 200 {
			m := k.New()
			fill(rng, m.ProtoReflect(), 3)
			got, want := Validate(m), byProtovalidate(m)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s\ngot  %v\nwant %v\n%.2000s", k.Type, got, want, m)
			}
			if got != nil {
				refused++
				if !errors.Is(got, ErrPoison) {
					t.Errorf("%v is not poison", got)
				}
			}
		}
	}
	if all := 200 * len(seen); refused < all/10 || refused > all*9/10 {
		t.Errorf("%d of %d were refused: the values test little", refused, all)
	}
}

// TestEveryConstraintIsKnown walks all messages, also those that events do not have.
func TestEveryConstraintIsKnown(t *testing.T) {
	stated := 0
	for _, file := range []protoreflect.FileDescriptor{
		recountv1.File_recount_v1_events_proto, recountv1.File_recount_v1_agents_proto, recountv1.File_recount_v1_records_proto,
		recountv1.File_recount_v1_code_proto, recountv1.File_recount_v1_replay_proto, recountv1.File_recount_v1_feedback_proto,
		recountv1.File_recount_v1_objects_proto, recountv1.File_recount_v1_runtime_proto,
	} {
		for i := range file.Messages().Len() {
			d := file.Messages().Get(i)
			if _, err := constraintsOf(d); err != nil {
				t.Error(err)
			}
			if d.Options().(interface{ ProtoReflect() protoreflect.Message }).ProtoReflect().Has(validate.E_Message.TypeDescriptor()) {
				t.Errorf("%s: constraints of a whole message are not known to Validate", d.FullName())
			}
			for j := range d.Oneofs().Len() {
				if proto.HasExtension(d.Oneofs().Get(j).Options(), validate.E_Oneof) {
					t.Errorf("%s: constraints of a oneof are not known to Validate", d.Oneofs().Get(j).FullName())
				}
			}
			for j := range d.Fields().Len() {
				f := d.Fields().Get(j)
				if !proto.HasExtension(f.Options(), validate.E_Field) {
					continue
				}
				stated++
				r := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
				if len(r.GetCel()) > 0 || len(r.GetCelExpression()) > 0 || r.HasIgnore() || r.GetMap().HasKeys() || r.GetMap().HasValues() {
					t.Errorf("%s: %v is not known to Validate", f.FullName(), r)
				}
			}
		}
	}
	if stated < 100 {
		t.Errorf("%d fields have constraints", stated)
	}
}

// fill gives the fields of a message values at the limits of their constraints, or none.
func fill(rng *rand.Rand, m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
		if rng.IntN(8) == 0 || f.Message() != nil && depth == 0 {
			continue
		}
		switch {
		case f.IsMap():
			for n := range near(rng, rules.GetMap().GetMaxPairs()) {
				m.Mutable(f).Map().Set(protoreflect.ValueOfString(fmt.Sprint(n)).MapKey(), protoreflect.ValueOfString("x"))
			}
		case f.IsList():
			n := near(rng, rules.GetRepeated().GetMaxItems())
			if f.Message() != nil || n > 2000 {
				n = rng.IntN(3)
			}
			for range n {
				m.Mutable(f).List().Append(value(rng, f, rules.GetRepeated().GetItems(), m.NewField(f).List().NewElement(), depth))
			}
		default:
			m.Set(f, value(rng, f, rules, m.NewField(f), depth))
		}
	}
}

// value returns a value of a field, or of an element of it; empty is the one that it begins with.
func value(rng *rand.Rand, f protoreflect.FieldDescriptor, r *validate.FieldRules, empty protoreflect.Value, depth int) protoreflect.Value {
	n := rng.IntN(4) - 1
	switch f.Kind() {
	case protoreflect.MessageKind:
		fill(rng, empty.Message(), depth-1)
		return empty
	case protoreflect.StringKind:
		if r.GetString().HasPattern() {
			return protoreflect.ValueOfString(strings.Repeat("0a", []int{0, 16, 20, 32, 33}[rng.IntN(5)]))
		}
		return protoreflect.ValueOfString(strings.Repeat([]string{"x", "é"}[rng.IntN(2)], near(rng, max(r.GetString().GetMaxBytes(), r.GetString().GetMaxLen()))))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(make([]byte, near(rng, max(r.GetBytes().GetMaxLen(), r.GetBytes().GetLen()))))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum([]protoreflect.EnumNumber{0, 1, 2, 99}[rng.IntN(4)])
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32([]float32{-0.5, 0, 0.5, 1, 1.5, float32(math.NaN()), float32(math.Inf(1))}[rng.IntN(7)])
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(near(rng, uint64(r.GetUint32().GetLte()))))
	}
	return empty
}

// near returns a size: small, or at the limit, or above it.
func near(rng *rand.Rand, limit uint64) int {
	if limit > 70_000 || limit == 0 || rng.IntN(6) > 0 {
		return rng.IntN(3)
	}
	return int(limit) - 1 + rng.IntN(3)
}
