package csharp

// structs has the parts of memory and the vectors of .NET, and what makes them out of each other; see
// library.
const structs = `
struct System.ReadOnlySpan<T>
.Length int
.IsEmpty bool
.Empty ReadOnlySpan<T>
.this[] T
ReadOnlySpan<T> Slice(int)
ReadOnlySpan<T> Slice(int,int)
T[] ToArray()
void CopyTo(Span<T>)
bool TryCopyTo(Span<T>)
struct System.Span<T> : ReadOnlySpan<T>
.Empty Span<T>
Span<T> Slice(int)
Span<T> Slice(int,int)
void Clear()
void Fill(T)
struct System.ReadOnlyMemory<T>
.Length int
.IsEmpty bool
.Empty ReadOnlyMemory<T>
.Span ReadOnlySpan<T>
ReadOnlyMemory<T> Slice(int)
ReadOnlyMemory<T> Slice(int,int)
T[] ToArray()
void CopyTo(Memory<T>)
struct System.Memory<T> : ReadOnlyMemory<T>
.Empty Memory<T>
.Span Span<T>
Memory<T> Slice(int)
Memory<T> Slice(int,int)
class System.Runtime.CompilerServices.Unsafe
static <T> T Add(T,Object)
static <T> T Subtract(T,Object)
static <T> T As(Object)
static <F,T> T As(F)
static <T> T AsRef(Object)
static <T> T ReadUnaligned(Object)
static <F,T> T BitCast(F)
static <T> int SizeOf()
class System.Runtime.InteropServices.MemoryMarshal
static <T> T GetReference(ReadOnlySpan<T>)
static <T> T GetArrayDataReference(T[])
static <F,T> Span<T> Cast(Span<F>)
static <F,T> ReadOnlySpan<T> Cast(ReadOnlySpan<F>)
static <T> Span<T> CreateSpan(T,int)
static <T> ReadOnlySpan<T> CreateReadOnlySpan(T,int)
static <T> Span<byte> AsBytes(Span<T>)
static <T> ReadOnlySpan<byte> AsBytes(ReadOnlySpan<T>)
static <T> T Read(ReadOnlySpan<byte>)
struct System.Numerics.Vector2
.X float
.Y float
.Zero Vector2
.One Vector2
.UnitX Vector2
.UnitY Vector2
static Vector2 Min(Vector2,Vector2)
static Vector2 Max(Vector2,Vector2)
static Vector2 Clamp(Vector2,Vector2,Vector2)
static Vector2 Abs(Vector2)
static Vector2 SquareRoot(Vector2)
static Vector2 Normalize(Vector2)
static Vector2 Lerp(Vector2,Vector2,float)
static float Dot(Vector2,Vector2)
static float Distance(Vector2,Vector2)
float Length()
float LengthSquared()
struct System.Numerics.Vector3
.X float
.Y float
.Z float
.Zero Vector3
.One Vector3
.UnitX Vector3
.UnitY Vector3
.UnitZ Vector3
static Vector3 Min(Vector3,Vector3)
static Vector3 Max(Vector3,Vector3)
static Vector3 Clamp(Vector3,Vector3,Vector3)
static Vector3 Abs(Vector3)
static Vector3 SquareRoot(Vector3)
static Vector3 Normalize(Vector3)
static Vector3 Lerp(Vector3,Vector3,float)
static float Dot(Vector3,Vector3)
static float Distance(Vector3,Vector3)
float Length()
float LengthSquared()
struct System.Numerics.Vector4
.X float
.Y float
.Z float
.W float
.Zero Vector4
.One Vector4
.UnitX Vector4
.UnitY Vector4
.UnitZ Vector4
.UnitW Vector4
static Vector4 Min(Vector4,Vector4)
static Vector4 Max(Vector4,Vector4)
static Vector4 Clamp(Vector4,Vector4,Vector4)
static Vector4 Abs(Vector4)
static Vector4 SquareRoot(Vector4)
static Vector4 Normalize(Vector4)
static Vector4 Lerp(Vector4,Vector4,float)
static float Dot(Vector4,Vector4)
static float Distance(Vector4,Vector4)
float Length()
float LengthSquared()
struct System.Numerics.Matrix3x2
.Identity Matrix3x2
struct System.Numerics.Matrix4x4
.Identity Matrix4x4
struct System.Numerics.Quaternion
.Identity Quaternion
struct System.Runtime.Intrinsics.Vector64<T>
.Zero Vector64<T>
.One Vector64<T>
.AllBitsSet Vector64<T>
extension Vector64<byte> AsByte()
extension Vector64<sbyte> AsSByte()
extension Vector64<short> AsInt16()
extension Vector64<ushort> AsUInt16()
extension Vector64<int> AsInt32()
extension Vector64<uint> AsUInt32()
extension Vector64<long> AsInt64()
extension Vector64<ulong> AsUInt64()
extension Vector64<float> AsSingle()
extension Vector64<double> AsDouble()
extension T GetElement(int)
extension T ToScalar()
extension Vector64<T> WithElement(int,T)
struct System.Runtime.Intrinsics.Vector128<T>
.Zero Vector128<T>
.One Vector128<T>
.AllBitsSet Vector128<T>
extension Vector128<byte> AsByte()
extension Vector128<sbyte> AsSByte()
extension Vector128<short> AsInt16()
extension Vector128<ushort> AsUInt16()
extension Vector128<int> AsInt32()
extension Vector128<uint> AsUInt32()
extension Vector128<long> AsInt64()
extension Vector128<ulong> AsUInt64()
extension Vector128<float> AsSingle()
extension Vector128<double> AsDouble()
extension T GetElement(int)
extension T ToScalar()
extension Vector128<T> WithElement(int,T)
extension Vector64<T> GetLower()
extension Vector64<T> GetUpper()
struct System.Runtime.Intrinsics.Vector256<T>
.Zero Vector256<T>
.One Vector256<T>
.AllBitsSet Vector256<T>
extension Vector256<byte> AsByte()
extension Vector256<sbyte> AsSByte()
extension Vector256<short> AsInt16()
extension Vector256<ushort> AsUInt16()
extension Vector256<int> AsInt32()
extension Vector256<uint> AsUInt32()
extension Vector256<long> AsInt64()
extension Vector256<ulong> AsUInt64()
extension Vector256<float> AsSingle()
extension Vector256<double> AsDouble()
extension T GetElement(int)
extension T ToScalar()
extension Vector256<T> WithElement(int,T)
extension Vector128<T> GetLower()
extension Vector128<T> GetUpper()
struct System.Runtime.Intrinsics.Vector512<T>
.Zero Vector512<T>
.One Vector512<T>
.AllBitsSet Vector512<T>
extension Vector512<byte> AsByte()
extension Vector512<sbyte> AsSByte()
extension Vector512<short> AsInt16()
extension Vector512<ushort> AsUInt16()
extension Vector512<int> AsInt32()
extension Vector512<uint> AsUInt32()
extension Vector512<long> AsInt64()
extension Vector512<ulong> AsUInt64()
extension Vector512<float> AsSingle()
extension Vector512<double> AsDouble()
extension T GetElement(int)
extension T ToScalar()
extension Vector512<T> WithElement(int,T)
extension Vector256<T> GetLower()
extension Vector256<T> GetUpper()
`
