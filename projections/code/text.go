package code

import (
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// validText returns facts whose texts are UTF-8, which is all that protobuf stores: a source file may
// spell a name or a route in other bytes, or by an escape such as \xff. Each run of other bytes becomes
// U+FFFD. The facts themselves do not change.
func validText(facts *recountv1.FileFacts) *recountv1.FileFacts {
	facts = proto.CloneOf(facts)
	repair(facts.ProtoReflect())
	return facts
}

func repair(m protoreflect.Message) {
	text := func(v protoreflect.Value) (protoreflect.Value, bool) {
		s := v.String()
		return protoreflect.ValueOfString(strings.ToValidUTF8(s, "\uFFFD")), !utf8.ValidString(s)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		isText, isMessage := f.Kind() == protoreflect.StringKind, f.Kind() == protoreflect.MessageKind
		switch {
		case f.IsMap(): // of texts to texts, the only kind that facts have
			var names []string
			v.Map().Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
				names = append(names, key.String())
				return true
			})
			slices.Sort(names) // of names that become one, the last counts
			for _, name := range names {
				key := protoreflect.ValueOfString(name)
				val, _ := text(v.Map().Get(key.MapKey()))
				v.Map().Clear(key.MapKey())
				valid, _ := text(key)
				v.Map().Set(valid.MapKey(), val)
			}
		case f.IsList() && isText:
			for i := range v.List().Len() {
				if valid, wrong := text(v.List().Get(i)); wrong {
					v.List().Set(i, valid)
				}
			}
		case f.IsList() && isMessage:
			for i := range v.List().Len() {
				repair(v.List().Get(i).Message())
			}
		case isText:
			if valid, wrong := text(v); wrong {
				m.Set(f, valid)
			}
		case isMessage:
			repair(v.Message())
		}
		return true
	})
}
