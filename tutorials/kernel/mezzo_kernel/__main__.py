"""python -m mezzo_kernel -f CONNECTION_FILE, as a kernelspec starts it."""

from ipykernel.kernelapp import IPKernelApp
from traitlets import Bool

from .kernel import MezzoKernel


class App(IPKernelApp):
    capture_fd_output = Bool(False, help="The kernel captures the output itself, with its displays.")


App.launch_instance(kernel_class=MezzoKernel)
