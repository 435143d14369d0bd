"""Records values and gradients of keras.ops' reductions, scans, sorting, indexing, creation, products, linear algebra."""

from cases import record
from common import integers, keras, np, numbers, write

ops = keras.ops
cases = {}


def case(name, function, *inputs):
    cases[name] = record(function, *inputs)


x = numbers(1, (2, 3, 4))
m = numbers(2, (3, 4))
v = numbers(3, (5,))
ties = integers(4, (4, 6), 3).astype("float64")
zeros = np.where(integers(5, (3, 5), 3) == 0, 0.0, numbers(6, (3, 5)))
ints = integers(7, (3, 5), 9) - 4

# Reductions.
for name in ("max", "min", "prod", "var", "logsumexp", "ptp", "median", "std"):
    f = getattr(ops, name)
    case(name, f, x)
    case(name + "_axis", lambda a, f=f: f(a, axis=1), x)
    case(name + "_axes_kept", lambda a, f=f: f(a, axis=(0, -1), keepdims=True), x)
case("max_ties", lambda a: ops.max(a, axis=1), ties)
case("min_ties", lambda a: ops.min(a, axis=0), ties)
case("prod_zeros", lambda a: ops.prod(a, axis=1), zeros)
case("prod_integers", lambda a: ops.prod(a, axis=1), ints)
case("max_integers", lambda a: ops.max(a, axis=0), ints)
case("any", lambda a: ops.any(a, axis=0), ints == 0)
case("all", lambda a: ops.all(a, axis=1, keepdims=True), ints != 0)
case("any_numbers", lambda a: ops.any(a, axis=1), zeros)
case("count_nonzero", lambda a: ops.count_nonzero(a, axis=1), zeros)
case("argmin", lambda a: ops.argmin(a, axis=1), ties)
case("average", lambda a, w: ops.average(a, axis=1, weights=w), m, np.abs(numbers(8, (3, 4))) + 0.1)
case("average_axis_weights", lambda a, w: ops.average(a, axis=1, weights=w), m, np.abs(numbers(9, (4,))) + 0.1)
case("average_plain", lambda a: ops.average(a, axis=0), m)
for method in ("linear", "lower", "higher", "midpoint", "nearest"):
    case("quantile_" + method, lambda a, method=method: ops.quantile(a, 0.3, axis=1, method=method), numbers(10, (3, 6)))
case("quantiles", lambda a: ops.quantile(a, np.array([0.1, 0.5, 1.0]), axis=0), numbers(11, (5, 3)))
for order in (1, 2, 3, np.inf, -np.inf, 0):
    case(f"norm_vector_{order}", lambda a, order=order: ops.norm(a, ord=order, axis=1), m)
case("norm_default", lambda a: ops.norm(a), m)
for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    case(f"norm_matrix_{order}", lambda a, order=order: ops.norm(a, ord=order, axis=(0, 1), keepdims=True), m)
case("normalize", lambda a: ops.normalize(a, axis=1), m)
case("normalize_1", lambda a: ops.normalize(a, axis=0, order=1), m)

# Scans.
case("cumsum", lambda a: ops.cumsum(a, axis=1), x)
case("cumsum_flat", ops.cumsum, m)
case("cumsum_integers", lambda a: ops.cumsum(a, axis=0), ints)
case("cumprod", lambda a: ops.cumprod(a, axis=-1), x)
case("cumprod_zeros", lambda a: ops.cumprod(a, axis=1), zeros)
case("diff", lambda a: ops.diff(a, n=2, axis=1), numbers(12, (2, 5, 2)))
case("trapezoid", lambda a: ops.trapezoid(a, dx=0.5, axis=0), m)
case("trapezoid_x", lambda a, b: ops.trapezoid(a, b, axis=1), m, np.sort(numbers(13, (4,))))

# Sorting.
def counted(histogram):
    return [ops.cast(histogram[0], "int32"), histogram[1]]


case("sort", lambda a: ops.sort(a, axis=1), x)
case("sort_flat", lambda a: ops.sort(a, axis=None), m)
case("argsort", lambda a: ops.argsort(a, axis=0), ties)
case("top_k", lambda a: ops.top_k(a, 3), numbers(14, (4, 7)))
case("top_k_ties", lambda a: ops.top_k(a, 4), ties)
case("in_top_k", lambda t, p: ops.in_top_k(t, p, 2), integers(15, (6,), 4), numbers(16, (6, 4)))
edges = np.sort(numbers(17, (6,)))
case("searchsorted_left", lambda s, b: ops.searchsorted(s, b), edges, np.concatenate([edges[:3], numbers(18, (4,))]))
case("searchsorted_right", lambda s, b: ops.searchsorted(s, b, side="right"), edges, edges)
case("digitize", lambda a, b: ops.digitize(a, b), numbers(19, (3, 4)), edges)
case("bincount", lambda a: ops.bincount(a, minlength=6), integers(20, (9,), 4))
case("bincount_weights", lambda a, w: ops.bincount(a, weights=w), integers(20, (9,), 4), numbers(21, (9,)))
case("histogram", lambda a: counted(ops.histogram(a, bins=4)), numbers(22, (20,)))
case("histogram_range", lambda a: counted(ops.histogram(a, bins=5, range=(-0.5, 0.5))), numbers(22, (20,)))

# Indexing.
case("take", lambda a, i: ops.take(a, i, axis=1), x, np.array([[2, 0], [-1, 2]]))
case("take_flat", lambda a, i: ops.take(a, i), m, np.array([0, 5, 5]))
along = integers(23, (2, 2, 4), 3)
case("take_along_axis", lambda a, i: ops.take_along_axis(a, i, axis=1), x, along)
case("take_along_axis_stretched", lambda a, i: ops.take_along_axis(a, i, axis=0), m, np.array([[2], [0], [2]]))
places = np.array([[0, 1], [2, 3], [0, 1]])
case("scatter", lambda i, u: ops.scatter(i, u, (3, 4)), places, numbers(24, (3,)))
case("scatter_rows", lambda i, u: ops.scatter(i, u, (3, 4)), np.array([[2], [2]]), numbers(25, (2, 4)))
case("scatter_update", lambda a, i, u: ops.scatter_update(a, i, u), m, np.array([[0, 1], [2, 3]]), numbers(26, (2,)))
case("scatter_update_rows", lambda a, i, u: ops.scatter_update(a, i, u), m, np.array([[2], [0]]), numbers(27, (2, 4)))
case("scatter_update_add", lambda a, i, u: ops.scatter_update(a, i, u, reduction="add"), m, places, numbers(28, (3,)))
case("slice", lambda a: ops.slice(a, (0, 1, 2), (2, 2, 1)), x)
case("slice_update", lambda a, u: ops.slice_update(a, (1, 2), u), m, numbers(29, (2, 2)))
segments = np.array([0, 2, 2, 0, 3])
case("segment_sum", lambda a, i: ops.segment_sum(a, i, num_segments=5), numbers(30, (5, 2)), segments)
case("segment_max", lambda a, i: ops.segment_max(a, i, num_segments=4), numbers(31, (5, 2)), np.array([0, 2, 1, 0, 3]))
case("segment_min", lambda a, i: ops.segment_min(a, i, num_segments=4), numbers(31, (5, 2)), np.array([0, 2, 1, 0, 3]))
case("one_hot", lambda i: ops.one_hot(i, 4), np.array([[0, 3], [-1, 2]]))
case("one_hot_axis", lambda i: ops.one_hot(i, 4, axis=0), np.array([[0, 3], [1, 2]]))
case("multi_hot", lambda i: ops.multi_hot(i, 5), np.array([[0, 3], [1, 1]]))

# Arrangement.
case("expand_dims", lambda a: ops.expand_dims(a, (0, -1)), m)
case("squeeze", lambda a: ops.squeeze(a, axis=1), numbers(32, (2, 1, 1)))
case("moveaxis", lambda a: ops.moveaxis(a, (0, 2), (1, 0)), x)
case("swapaxes", lambda a: ops.swapaxes(a, 0, -1), x)
case("stack", lambda a, b: ops.stack([a, b], axis=1), m, numbers(33, (3, 4)))
case("unstack", lambda a: ops.unstack(a, axis=1), m)
case("hstack", lambda a, b: ops.hstack([a, b]), m, numbers(34, (3, 2)))
case("vstack", lambda a, b: ops.vstack([a, b]), v, numbers(35, (5,)))
case("dstack", lambda a, b: ops.dstack([a, b]), m, numbers(36, (3, 4)))
case("append", lambda a, b: ops.append(a, b), m, v)
case("array_split", lambda a: ops.array_split(a, 3), v)
case("tile", lambda a: ops.tile(a, (2, 1, 3)), m)
case("repeat", lambda a: ops.repeat(a, 2, axis=0), m)
case("repeat_each", lambda a: ops.repeat(a, np.array([1, 0, 3]), axis=0), m)
case("roll", lambda a: ops.roll(a, (1, -2), axis=(0, 1)), m)
case("roll_flat", lambda a: ops.roll(a, 5), m)
case("flip", lambda a: ops.flip(a, axis=(0, 2)), x)
case("flip_last", lambda a: ops.flip(a, axis=-1), x)
case("rot90", lambda a: ops.rot90(a), m)
case("rot90_3", lambda a: ops.rot90(a, k=3, axes=(1, 2)), x)
case("tril", lambda a: ops.tril(a, k=1), x)
case("triu", lambda a: ops.triu(a, k=-1), m)
case("diag", lambda a: ops.diag(a, k=2), v)
case("diag_below", lambda a: ops.diag(a, k=-3), v)
case("diag_of", lambda a: ops.diag(a, k=1), m)
case("diagflat", lambda a: ops.diagflat(a, k=-1), numbers(37, (2, 2)))
case("diagonal", lambda a: ops.diagonal(a, offset=1, axis1=2, axis2=0), x)
case("trace", lambda a: ops.trace(a, axis1=1, axis2=2), x)
case("meshgrid", lambda a, b: ops.meshgrid(a, b), v, numbers(38, (3,)))
case("meshgrid_ij", lambda a, b: ops.meshgrid(a, b, indexing="ij"), v, numbers(38, (3,)))
case("select", lambda c, d, a, b: ops.select([c, d], [a, b], 7.0), ints > 2, ints < 0, zeros, -zeros)
widths = ((1, 2), (2, 0))
case("pad_constant", lambda a: ops.pad(a, widths, constant_values=2.5), m)
for mode in ("reflect", "symmetric"):
    case("pad_" + mode, lambda a, mode=mode: ops.pad(a, widths, mode=mode), m)

# Creation.
case("arange", lambda: ops.arange(2, 9, 3))
case("arange_floats", lambda: ops.arange(0.5, 2, 0.25, dtype="float64"))
case("linspace", lambda: ops.linspace(-1.0, 2.0, 7, dtype="float64"))
case("linspace_open", lambda: ops.linspace(-1.0, 2.0, 6, endpoint=False, dtype="float64"))
case("logspace", lambda: ops.logspace(0.0, 3.0, 4, base=2, dtype="float64"))
case("eye", lambda: ops.eye(3, 4, k=1, dtype="float64"))
case("tri", lambda: ops.tri(3, 4, k=-1, dtype="float64"))
for name in ("bartlett", "blackman", "hamming", "hanning"):
    case(name, lambda f=getattr(ops, name): ops.cast(f(6), "float64"))
case("kaiser", lambda: ops.cast(ops.kaiser(6, 8.5), "float64"))
case("vander", lambda a: ops.vander(a, 4), v)

# Products.
a, b = numbers(40, (2, 3, 4)), numbers(41, (2, 4, 5))
case("matmul_stretched", ops.matmul, numbers(42, (2, 1, 3, 4)), numbers(43, (5, 4, 2)))
case("matmul_vector", ops.matmul, a, numbers(44, (4,)))
case("matmul_row", ops.matmul, numbers(44, (4,)), b)
case("dot", ops.dot, a, numbers(45, (6, 4, 2)))
case("vdot", ops.vdot, m, numbers(46, (3, 4)))
case("inner", ops.inner, a, m)
case("outer", ops.outer, v, m)
case("tensordot", lambda p, q: ops.tensordot(p, q, axes=1), a, numbers(47, (4, 3)))
case("tensordot_axes", lambda p, q: ops.tensordot(p, q, axes=((0, 2), (0, 1))), a, b)
case("kron", ops.kron, m, numbers(48, (2, 1)))
case("cross", ops.cross, numbers(49, (4, 3)), numbers(50, (4, 3)))
case("cross_2", ops.cross, numbers(49, (4, 2)), numbers(50, (4, 3)))
einsums = {"ij,jk->ik": ((3, 4), (4, 2)), "bqhd,bkhd->bhqk": ((2, 3, 2, 4), (2, 5, 2, 4)), "ii->i": ((4, 4),),
           "ij->ji": ((3, 4),), "ij->": ((3, 4),), "ij,j": ((3, 4), (4,)), "...ij,...jk->...ik": ((2, 3, 4), (4, 5)),
           "i,j->ij": ((3,), (4,)), "ijk,ilm,njm->nlk": ((2, 3, 4), (2, 2, 3), (4, 3, 3)), "iij,jk->ik": ((3, 3, 4), (4, 2)),
           "ij,ij->i": ((3, 4), (3, 4)), "ij,kl->ik": ((3, 4), (2, 5)), "...a,a...->...": ((2, 3), (3, 2))}
for text, shapes in einsums.items():
    case("einsum " + text, lambda *xs, text=text: ops.einsum(text, *xs),
         *[numbers(60 + i, shape) for i, shape in enumerate(shapes)])

# Linear algebra.
root = numbers(70, (2, 4, 4)) + 2 * np.eye(4)
positive = root @ np.swapaxes(root, 1, 2)
case("cholesky", lambda p: ops.cholesky((p + ops.swapaxes(p, 1, 2)) / 2), positive)
case("cholesky_upper", lambda p: ops.cholesky((p + ops.swapaxes(p, 1, 2)) / 2, upper=True), positive)
case("cholesky_inverse", ops.cholesky_inverse, np.linalg.cholesky(positive)[0])
case("inv", ops.inv, root)
case("det", ops.det, root)
case("slogdet", lambda p: ops.slogdet(p)[::-1], -root[:, :3, :3])
case("solve", ops.solve, root, numbers(71, (2, 4, 3)))
case("solve_vector", ops.solve, root[0], numbers(72, (4,)))
case("solve_triangular", lambda p, q: ops.solve_triangular(p, q, lower=True), np.tril(root), numbers(73, (2, 4, 3)))
case("lstsq", ops.lstsq, numbers(74, (5, 3)), numbers(75, (5, 2)))
case("pinv", ops.pinv, numbers(74, (5, 3)))
case("qr_square", lambda p: [abs(y) for y in ops.qr(p)], numbers(76, (4, 3)))
case("eigh_values", lambda p: ops.eigh((p + ops.swapaxes(p, 1, 2)) / 2)[0], positive)
case("svd_values", lambda p: ops.svd(p, compute_uv=False), numbers(77, (2, 4, 3)))
case("svd_vectors", lambda p: (lambda u, s, w: abs(u @ w))(*ops.svd(p, full_matrices=False)), numbers(77, (2, 4, 3)))
case("matrix_rank", ops.matrix_rank, np.array([[1.0, 2.0], [2.0, 4.0]]))
write("array_ops", cases)
