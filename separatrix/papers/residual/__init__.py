"""Allen-Zhu & Li, *What Can ResNet Learn Efficiently, Going Beyond Kernels?*"""
